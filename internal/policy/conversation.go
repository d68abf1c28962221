package policy

// HintPrefix begins the message that carries the privileged hint.
const HintPrefix = "Hint: "

// Conversation is the agent's prompt before its first action: what it observes, and the hint when it plays with one.
func Conversation(observation, hint string) []Message {
	messages := []Message{{Role: "user", Content: observation}}
	if hint != "" {
		messages = append(messages, Message{Role: "user", Content: HintPrefix + hint})
	}
	return messages
}

// Extend is the prompt after one more exchange. The result shares no memory with messages that a later Extend of the
// same messages could overwrite.
func Extend(messages []Message, action, observation string) []Message {
	return append(messages[:len(messages):len(messages)],
		Message{Role: "assistant", Content: action},
		Message{Role: "user", Content: observation},
	)
}
