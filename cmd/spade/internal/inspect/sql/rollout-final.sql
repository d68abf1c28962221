SELECT final_observation FROM spade.rollouts WHERE rollout_id = toUUID(@id) AND final_observation != ''
