// Package runs knows what a run is: how its name becomes its id, what RunStarted pins, and how two configurations differ.
// Every role works on a Run, which comes from the run's first event. Begin with Run and Start.
package runs
