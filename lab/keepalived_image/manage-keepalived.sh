#!/bin/sh
# Entry point with the contract of Metal3's image of keepalived: PROVISIONING_INTERFACE gets PROVISIONING_IP.
set -eu
: "${PROVISIONING_IP:?not set, expected the address that the interface gets}"
: "${PROVISIONING_INTERFACE:?not set, expected an interface of this node}"
case $PROVISIONING_IP in
  *:*) prefix=128 ;;
  *) prefix=32 ;;
esac
folder=${CUSTOM_DATA_DIR:-/data}
cat >"$folder/keepalived.conf" <<CONFIGURATION
global_defs {
    # It runs as a user without a name, and starts no script.
    dynamic_interfaces
}
vrrp_instance ironic {
    state MASTER
    interface $PROVISIONING_INTERFACE
    virtual_router_id 1
    priority 101
    advert_int 1
    virtual_ipaddress {
        $PROVISIONING_IP/$prefix dev $PROVISIONING_INTERFACE
    }
}
CONFIGURATION
exec /usr/sbin/keepalived --dont-fork --log-console --vrrp --use-file "$folder/keepalived.conf" \
  --pid "$folder/keepalived.pid" --vrrp_pid "$folder/vrrp.pid"
