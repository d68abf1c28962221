package host

// Pid lets a test watch the process.
func Pid(p *Plugin) int { return p.proc.Pid() }
