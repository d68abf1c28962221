package progress

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// eighths fill a cell of a bar from the left.
var eighths = []rune(" ▏▎▍▌▋▊▉█")

// bar draws a share of [0, 1] over so many columns.
func bar(share float64, columns int) string {
	if columns <= 0 {
		return ""
	}
	filled := int(math.Round(min(1, max(0, share)) * float64(columns*8)))
	var b strings.Builder
	for range filled / 8 {
		b.WriteRune('█')
	}
	if rest := filled % 8; rest > 0 {
		b.WriteRune(eighths[rest])
	}
	return screen.Pad(b.String(), columns, false)
}

// spark draws values, at least the last columns of them, between their least and their greatest.
func spark(values []float64, columns int) string {
	if len(values) > columns {
		values = values[len(values)-max(0, columns):]
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		at := 0.0
		if high > low {
			at = (v - low) / (high - low)
		}
		b.WriteRune(levels[int(math.Round(at*float64(len(levels)-1)))])
	}
	return b.String()
}

// clock writes a duration as a stopwatch does.
func clock(d time.Duration) string {
	s := int64(max(0, d).Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// count writes a number with thousands separated.
func count(n int64) string {
	text := fmt.Sprint(n)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// perSecond writes a rate.
func perSecond(n int64, d time.Duration) string {
	if d <= 0 {
		return "0/s"
	}
	rate := float64(n) / d.Seconds()
	if rate >= 9.95 {
		return count(int64(math.Round(rate))) + "/s"
	}
	return fmt.Sprintf("%.1f/s", rate)
}

// signed writes a figure with its sign and three places.
func signed(x float64) string { return fmt.Sprintf("%+.3f", x) }

// none stands for a figure that there is not, which is another thing than 0.
const none = "none"

func (it Iteration) hinted() string {
	if it.NoHinted {
		return none
	}
	return fmt.Sprintf("%.3f", it.Hinted)
}

func (it Iteration) regret() string {
	if it.NoRegret {
		return none
	}
	return signed(it.Regret)
}
