package tables

func regrets() *Table {
	return &Table{
		Name: Regrets,
		Comment: "regret of every environment: one row per estimator, or one row with no estimator and a reason when there were " +
			"too few valid episodes; filter by chosen for the one that paid",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment"),
			col("iteration", typInt32, "iteration, from 0"),
			col("policy_version", typInt64, "policy version that acted"),
			col("estimator", typLow, "estimator of the row; empty when the regret is unavailable"),
			col("chosen", typBool, "this estimator pays the designer"),
			in("episodes", "n_hinted", typInt32, "valid hinted episodes"),
			in("episodes", "n_plain", typInt32, "valid plain episodes"),
			in("episodes", "invalid_hinted", typInt32, "hinted episodes that count for nothing"),
			in("episodes", "invalid_plain", typInt32, "plain episodes that count for nothing"),
			in("pairs", "n_pairs", typInt32, "pairs the estimator used; 0 when it is not a paired one"),
			col("reward_hinted", typFloatNull, "mean hinted return; NULL without a valid episode"),
			col("reward_plain", typFloatNull, "mean plain return; NULL without a valid episode"),
			col("var_hinted", typFloatNull, "sample variance of the hinted return; NULL below two episodes"),
			col("var_plain", typFloatNull, "sample variance of the plain return; NULL below two episodes"),
			col("success_hinted", typFloatNull, "share of valid hinted episodes that were solved"),
			col("success_plain", typFloatNull, "share of valid plain episodes that were solved"),
			col("regret", typFloatNull, "the estimate; NULL when this estimator had too few episodes"),
			col("stderr", typFloatNull, "standard error of the estimate; NULL when this estimator had too few episodes"),
			col("learnability", typFloatNull, "p(1-p) of the plain arm; NULL when the regret is unavailable"),
			in("share", "hidden_share", typFloatNull, "env seeds whose solution acts on a fact that no observation holds"),
			col("guarded", typBool, "the guard against unlearnable hints pays nothing for this gap"),
			col("reason", typString, "why the regret is unavailable; empty when it is available"),
		},
		OrderBy: []string{"run_id", "env_id", "estimator"},
	}
}

func designerRewards() *Table {
	return &Table{
		Name:    DesignerRewards,
		Comment: "what each design was paid, and for what",
		Columns: []Column{
			col("run_id", typUUID, "run"),
			col("env_id", typUUID, "environment"),
			col("iteration", typInt32, "iteration, from 0"),
			col("policy_version", typInt64, "policy version that designed"),
			col("reward", typFloat, "the pay"),
			col("regret_part", typFloat, "part paid for regret"),
			col("validity_part", typFloat, "part paid for passing the gate"),
			col("novelty_part", typFloat, "part paid for novelty"),
			col("coverage_part", typFloat, "part paid for rare kinds"),
			col("guard_part", typFloat, "what the guard against unlearnable hints took away, at most 0"),
			col("weights", typMap, "weight of each part"),
			col("measured", typBool, "false: the regret was unavailable and its part is 0"),
			col("design_group", typUUIDNull, "designs whose pay is compared"),
		},
		OrderBy: []string{"run_id", "env_id"},
	}
}
