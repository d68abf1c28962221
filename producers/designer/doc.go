// Package designer answers design requests: it samples documents, recalls what was built before, asks the policy for an
// environment's source, puts it through the acceptance gate and the duplicate check, and appends what came of it.
//
// Begin with Designer.Design, one slot of an iteration from request to verdict. A Ledger, fed with spade.environments,
// tells it what the log already holds, so that a redelivered request continues instead of beginning again, and makes
// the slots of an iteration decide in order.
package designer
