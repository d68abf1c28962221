package trainer

import (
	"errors"
	"fmt"
	"math"
)

// Names of the advantage estimators.
const (
	GRPO   = "grpo"    // (r - mean) / (std + eps), DeepSeekMath
	DrGRPO = "dr_grpo" // r - mean, Liu et al. 2025
	RLOO   = "rloo"    // r - mean of the others = G/(G-1) (r - mean), Ahmadian et al. 2024
	MaxRL  = "maxrl"   // (r - mean) / (mean + eps)
)

// ErrUnknownEstimator says that no advantage estimator has that name.
var ErrUnknownEstimator = errors.New("unknown advantage estimator")

// Estimators lists the advantage estimators, sorted.
func Estimators() []string { return []string{DrGRPO, GRPO, MaxRL, RLOO} }

// advantages of the returns of one group. signal is false when they are all equal, or fewer than two: then every
// advantage is 0. ddof is that of GRPO's standard deviation.
func advantages(estimator string, rewards []float64, eps float64, ddof int) (out []float64, signal bool, err error) {
	out = make([]float64, len(rewards))
	if len(rewards) < 2 {
		return out, false, nil
	}
	mean, squares := moments(rewards)
	if squares == 0 {
		return out, false, nil
	}
	n := float64(len(rewards))
	var scale float64
	switch estimator {
	case GRPO:
		scale = 1 / (math.Sqrt(squares/max(1, n-float64(ddof))) + eps)
	case DrGRPO:
		scale = 1
	case RLOO:
		scale = n / (n - 1)
	case MaxRL:
		scale = 1 / (mean + eps)
	default:
		return nil, false, fmt.Errorf("%q: %w", estimator, ErrUnknownEstimator)
	}
	for i, r := range rewards {
		out[i] = float64(r-mean) * scale
	}
	return out, true, nil
}

// moments are the mean and the sum of squared deviations, exact zero for equal values.
func moments(values []float64) (mean, squares float64) {
	equal := true
	for _, v := range values {
		mean += v
		equal = equal && v == values[0]
	}
	mean /= float64(len(values))
	if equal {
		return mean, 0
	}
	for _, v := range values {
		d := v - mean
		squares += float64(d * d)
	}
	return mean, squares
}
