package python_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// shows is a source whose observations are the values of an expression.
func shows(expr string) string {
	return `
import datetime, os, random, secrets, sys, time, uuid
from datetime import date, datetime as moment

META = {"title": "Shows", "kind": "game", "max_steps": 9}

def show():
    return str(` + expr + `)

def reset(seed):
    return None, show(), {}

def step(state, action):
    return None, show(), 0.0, False, False, {}

def hint(state):
    return ""

def verify(state):
    return 0
`
}

// seen is what three episodes show at their beginning and after a step, the later ones interleaved.
func seen(t *testing.T, driver *pythontest.Driver, expr string) (first, second []string) {
	t.Helper()
	if loaded := driver.Load(shows(expr), wire.DefaultLimits()); loaded.Stage != "" {
		t.Fatalf("%s: %+v", expr, loaded)
	}
	for episode := range 3 {
		got := driver.Reset(wire.Reset{Episode: episode, Seed: 7})
		if got.Outcome != wire.Ongoing {
			t.Fatalf("%s: %+v", expr, got.Fault)
		}
		first = append(first, got.Observation)
	}
	for episode := range 3 {
		got := driver.Step(wire.Action{Episode: episode})
		if got.Outcome != wire.Ongoing {
			t.Fatalf("%s: %+v", expr, got.Fault)
		}
		second = append(second, got.Observation)
	}
	return first, second
}

// Every way to read the wall clock is moved, and the classes of datetime go on working.
func TestClockShift(t *testing.T) {
	const shift = 1000 * 24 * time.Hour
	moved := pythontest.Start(t, `{"clock_shift_ns": `+strconv.FormatInt(int64(shift), 10)+`}`)
	plain := pythontest.Start(t, "{}")
	for _, expr := range []string{
		"int(time.time())", "time.time_ns() // 10 ** 9", "int(time.clock_gettime(time.CLOCK_REALTIME))", "time.clock_gettime_ns(time.CLOCK_REALTIME) // 10 ** 9",
		"int(time.mktime(time.localtime()))", "int(time.mktime(time.gmtime()))", "int(time.mktime(time.strptime(time.ctime())))", "int(time.mktime(time.strptime(time.asctime())))",
		`int(time.mktime(time.strptime(time.strftime("%Y-%m-%d %H:%M:%S"), "%Y-%m-%d %H:%M:%S")))`,
		"int(moment.now().timestamp())", "int(datetime.datetime.utcnow().timestamp())", "int(moment.today().timestamp())", "int(moment.now(datetime.timezone.utc).timestamp())",
		"int(time.mktime(date.today().timetuple()))", "int(time.mktime(datetime.date.today().timetuple()))",
	} {
		before, _ := seen(t, plain, expr)
		after, _ := seen(t, moved, expr)
		a, err1 := strconv.ParseInt(before[0], 10, 64)
		b, err2 := strconv.ParseInt(after[0], 10, 64)
		if err1 != nil || err2 != nil || time.Duration(b-a)*time.Second < shift-time.Minute || time.Duration(b-a)*time.Second > shift+time.Minute {
			t.Errorf("%s: %s, then %s", expr, before[0], after[0])
		}
	}
	for _, expr := range []string{
		"isinstance(moment(2020, 1, 1), datetime.datetime)", "isinstance(date(2020, 1, 1) + datetime.timedelta(1), datetime.date)", "isinstance(moment(2020, 1, 1), date)",
		"moment(2020, 1, 2) - moment(2020, 1, 1) == datetime.timedelta(1)", "isinstance(moment.fromisoformat('2020-01-01'), moment)", "not isinstance(date(2020, 1, 1), moment)",
		"moment(2020, 1, 1).isoformat() == '2020-01-01T00:00:00'", "issubclass(moment, date)", "time.gmtime(0).tm_year == 1970", "time.monotonic() > 0", "time.localtime(None).tm_year > 2020",
	} {
		if first, _ := seen(t, moved, expr); first[0] != "True" {
			t.Errorf("%s is %s", expr, first[0])
		}
	}
}

func TestClockFrozen(t *testing.T) {
	one, two := pythontest.Start(t, `{"freeze_clock": true}`), pythontest.Start(t, `{"freeze_clock": true}`)
	for _, expr := range []string{"time.time_ns()", "moment.now()", "date.today()", "time.ctime()"} {
		a, b := seen(t, one, expr)
		c, d := seen(t, two, expr)
		if a[0] != b[2] || a[0] != c[1] || a[0] != d[0] {
			t.Errorf("%s: %v, %v, %v, %v", expr, a, b, c, d)
		}
	}
}

// What uses the process-global generators repeats itself when they are seeded, and does not otherwise.
func TestSeededGlobals(t *testing.T) {
	one, two, plain := pythontest.Start(t, `{"seed_globals": true}`), pythontest.Start(t, `{"seed_globals": true}`), pythontest.Start(t, "{}")
	for _, expr := range []string{
		"random.random()", "random.randint(0, 10 ** 18)", "random.SystemRandom().random()", "os.urandom(16)", "secrets.token_hex(16)", "uuid.uuid4()", "secrets.randbelow(10 ** 18)",
	} {
		a, b := seen(t, one, expr)
		c, d := seen(t, two, expr)
		if a[0] != a[2] || a[0] != c[0] || b[0] != b[1] || b[0] != d[2] || a[0] == b[0] {
			t.Errorf("%s: %v, %v, %v, %v", expr, a, b, c, d)
		}
		if e, f := seen(t, plain, expr); e[0] == e[1] || e[0] == f[0] {
			t.Errorf("%s repeats itself: %v, %v", expr, e, f)
		}
	}
}

// The hash seed, the time zone and the locale of the process are what it was started with, though no variable tells.
func TestSurroundingsOfTheProcess(t *testing.T) {
	usual, other := pythontest.Start(t, "{}"), pythontest.Start(t, "{}", "PYTHONHASHSEED=99", "TZ=XXX-7", "LC_ALL=C")
	for _, expr := range []string{"hash('a')", "time.strftime('%H', time.localtime(0))", "time.mktime((2020, 1, 1, 0, 0, 0, 0, 0, 0))", "list(set('abcdefghijklm'))"} {
		a, _ := seen(t, usual, expr)
		b, _ := seen(t, other, expr)
		if a[0] != a[1] || a[0] == b[0] {
			t.Errorf("%s is %s in both", expr, a[0])
		}
	}
}
