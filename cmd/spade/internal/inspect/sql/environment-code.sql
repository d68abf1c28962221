SELECT code FROM spade.environments WHERE env_id = toUUID(@id)
