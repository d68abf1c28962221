package config

// IdleKeys are the settings that the rules of Idle name.
func IdleKeys() []string {
	var keys []string
	for _, r := range rules() {
		keys = append(keys, r.keys...)
	}
	return keys
}
