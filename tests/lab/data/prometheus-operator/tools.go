//go:build tools

// Package tools pins the API whose definition is generated.
package tools

import _ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
