// Package generation is both ends of the contract's Generate: Ask is the side that asks, Answer the side that answers.
package generation
