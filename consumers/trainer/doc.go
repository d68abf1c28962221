// Package trainer turns closed iterations into policy updates: it builds the Arrow batches of both roles with their
// advantages, has a learner train on them, and makes BatchBuilt and PolicyUpdated.
//
// Begin with Trainer: Add folds the log, Step trains the next iteration that is due. advantage.go has the estimators,
// batch.go the rows.
package trainer
