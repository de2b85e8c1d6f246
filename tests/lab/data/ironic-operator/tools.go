//go:build tools

// Package tools pins the API whose definition is generated.
package tools

import _ "github.com/metal3-io/ironic-standalone-operator/api/v1alpha1"
