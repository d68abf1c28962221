package tables

func rollouts() *Table {
	return &Table{
		Name:    Rollouts,
		Comment: "one row per episode that was played",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("rollout_id", typUUID, "episode"),
			col("env_id", typUUID, "environment"),
			col("iteration", typInt32, "iteration, from 0"),
			col("group_id", typUUIDNull, "episodes that advantages are taken within"),
			col("arm", typLow, "plain, or hinted: the agent saw the hint"),
			col("env_seed", typUInt64, "seed the environment was reset with"),
			col("repeat", typInt32, "repeat of the env seed, from 0"),
			col("policy_version", typInt64, "policy version that acted"),
			in("versions", "staleness", typInt32, "how far that version was behind the newest the worker knew"),
			col("total_reward", typFloat, "return of the episode, in [0, 1]"),
			col("verify_score", typFloatNull, "score of the environment's verification code, in [0, 1]; NULL when it gave none"),
			col("outcome", typLow, "solved, failed, agent_error, env_error, verifier_error, timeout, overlong, cancelled or text_encoding"),
			col("stop_reason", typLow, "why the episode ended"),
			col("steps", typInt32, "steps played"),
			col("terminated", typBool, "the environment ended the episode"),
			col("truncated", typBool, "a limit ended the episode"),
			col("final_observation", typString, "observation after the last step"),
			col("final_state_hash", typString, "hash of the last state, hexadecimal"),
			col("hint", typString, "the hint; hinted arm only"),
			col("hint_sha256", typString, "digest of the hint, hexadecimal; hinted arm only"),
			col("model", typLow, "model that acted"),
			in("tokens", "prompt_tokens", typInt32, "prompts of the episode"),
			in("tokens", "completion_tokens", typInt32, "completions of the episode"),
			col("nondeterministic", typBool, "the wall clock had a part in the episode"),
			col("sandbox_tier", typLow, "sandbox the environment ran in"),
			col("worker", typLow, "worker that played"),
			col("error", typString, "what went wrong, when something did"),
			col("started_at", typTimeNull, "when its arm's episodes began, which are played side by side"),
			col("finished_at", typTimeNull, "when its arm's episodes had ended"),
		},
		OrderBy: []string{"run_id", "env_id", "rollout_id"},
	}
}

func droppedRollouts() *Table {
	return &Table{
		Name:    DroppedRollouts,
		Comment: "one row per expected episode that was not played",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("rollout_id", typUUID, "episode"),
			col("env_id", typUUID, "environment"),
			col("reason", typLow, "why it was not played"),
			in("versions", "staleness", typInt32, "how far the policy version was behind"),
			col("policy_version", typInt64, "policy version that would have acted"),
		},
		OrderBy: []string{"run_id", "env_id", "rollout_id"},
	}
}

func steps() *Table {
	return &Table{
		Name: Steps,
		Comment: "one row per step of an episode: the observation the agent saw, the action it took, and what followed; the last " +
			"observation is rollouts.final_observation",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("rollout_id", typUUID, "episode"),
			col("env_id", typUUID, "environment"),
			col("arm", typLow, "plain, or hinted: the agent saw the hint"),
			col("step", typInt32, "step of the episode, from 0"),
			col("observation", typString, "what the agent saw"),
			col("action", typString, "what it did"),
			col("tool_name", typLow, "tool that the action called; empty when it called none"),
			col("reward", typFloat, "reward of the action"),
			col("terminated", typBool, "the environment ended the episode here"),
			col("truncated", typBool, "a limit ended the episode here"),
			in("nats", "logprob", typFloat, "log-probability of the whole action"),
			col("state_hash", typString, "hash of the state after the action, hexadecimal"),
			col("info", typString, "info that came with the observation, as JSON"),
		},
		OrderBy: []string{"run_id", "env_id", "rollout_id", "step"},
	}
}
