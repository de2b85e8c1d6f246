"""Runs what is on a server's disk: its root partition, with its own init, in namespaces of its own.

``namespace_boot`` is what the machine room calls; it starts one process ``run`` for each running system, which outlives
a restart of the machine room. ``run`` prepares the devices, the network and the control group, and starts
``first_stage`` in fresh namespaces, which becomes the disk's ``/sbin/init``. If ``run`` dies, the kernel ends the
system (parent death signal) and gives the loop devices back; what stays is found by name and removed by ``release``.
"""
