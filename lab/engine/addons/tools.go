//go:build tools

// Package addons pins the programs that run as pods in a lab's cluster and that Kubernetes' own module lacks.
package addons

import (
	_ "github.com/flannel-io/flannel"
	_ "github.com/kube-vip/kube-vip"
	_ "k8s.io/kubernetes/test/images/agnhost"
)
