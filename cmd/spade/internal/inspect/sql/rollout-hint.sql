SELECT hint FROM spade.rollouts WHERE rollout_id = toUUID(@id) AND hint != ''
