-- spade
CREATE DATABASE IF NOT EXISTS spade;

-- _claims
CREATE TABLE IF NOT EXISTS spade._claims
(
    place String COMMENT 'topic and partition, joined by a colon',
    writer UInt64 COMMENT 'token of the sink that claimed it'
)
ENGINE = Join(ANY, LEFT, place) SETTINGS join_any_take_last_row = 1
COMMENT 'the sink that may insert rows of a partition; the last claim wins';

-- _plans
CREATE TABLE IF NOT EXISTS spade._plans
(
    sink LowCardinality(String) COMMENT 'consumer group of the sink',
    topic_id LowCardinality(String) COMMENT 'topic of the range',
    incarnation LowCardinality(String) COMMENT 'id that Kafka gave the topic when it was created; empty when it gave none',
    partition Int32 COMMENT 'partition of the range',
    first Int64 COMMENT 'offset of the batch\'s first event',
    last Int64 COMMENT 'offset of the batch\'s last event',
    generation Int32 COMMENT 'generation of the consumer group that planned it',
    writer UInt64 COMMENT 'token of the sink that planned it',
    planned_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(topic_id, ':', toString(partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when it was planned'
)
ENGINE = MergeTree
ORDER BY (sink, topic_id, partition, first)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'ranges of the log that the sink set out to insert, one row before each batch';

-- _offsets
CREATE TABLE IF NOT EXISTS spade._offsets
(
    sink LowCardinality(String) COMMENT 'consumer group of the sink',
    topic_id LowCardinality(String) COMMENT 'topic',
    incarnation LowCardinality(String) COMMENT 'id that Kafka gave the topic when it was created; empty when it gave none',
    partition Int32 COMMENT 'partition',
    next_offset Int64 COMMENT 'every event before this offset is in the warehouse',
    generation Int32 COMMENT 'generation of the consumer group that inserted it',
    writer UInt64 COMMENT 'token of the sink that inserted it',
    finished_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(topic_id, ':', toString(partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the batch was complete'
)
ENGINE = MergeTree
ORDER BY (sink, topic_id, partition, next_offset)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'how far the warehouse holds each partition of the log, one row after each batch';

-- _schema
CREATE TABLE IF NOT EXISTS spade._schema
(
    version Int32 COMMENT 'version of the definitions',
    installed_at DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'when they were installed'
)
ENGINE = MergeTree
ORDER BY (version)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'versions of these definitions that were installed here';

-- run_events
CREATE TABLE IF NOT EXISTS spade.run_events
(
    run_id UUID COMMENT 'run',
    event LowCardinality(String) COMMENT 'started, resumed or finished',
    name String COMMENT 'name the run was given; started only',
    kind LowCardinality(String) COMMENT 'train, fork or ablation; pool: an import of environments; started only',
    parent_run_id Nullable(UUID) COMMENT 'run that a fork or ablation came from',
    fork_iteration Nullable(Int32) COMMENT 'first iteration that differs from the parent\'s',
    exactness LowCardinality(String) COMMENT 'forks: exact, estimate or fresh; empty otherwise',
    exact_until Nullable(Int32) COMMENT 'forks: iteration up to which the fork equals a run from scratch',
    seed UInt64 COMMENT 'seed of all randomness; started only',
    ablations Array(String) COMMENT 'parts that were switched off',
    config String COMMENT 'semantic configuration as JSON; started only',
    deployment String COMMENT 'deployment configuration as JSON; started only',
    architecture LowCardinality(String) COMMENT 'architecture of the payloads\' floating point; started only',
    documents_sha256 String COMMENT 'digest of the documents the run may sample, hexadecimal; started only',
    documents_count Int64 COMMENT 'documents the run may sample; started only',
    code_version LowCardinality(String) COMMENT 'version of the program that made the event',
    iteration Nullable(Int32) COMMENT 'iteration at which the run was taken up again; resumed only',
    status LowCardinality(String) COMMENT 'running, finished, cancelled or failed, as of this event',
    iterations Int32 COMMENT 'iterations closed; finished only',
    designed Int64 COMMENT 'designs; finished only',
    accepted Int64 COMMENT 'designs accepted; finished only',
    rejected Int64 COMMENT 'designs rejected; finished only',
    rollouts Int64 COMMENT 'episodes played; finished only',
    steps Int64 COMMENT 'steps played; finished only',
    first_regret Nullable(Float64) COMMENT 'mean regret of the first iteration; finished only',
    last_regret Nullable(Float64) COMMENT 'mean regret of the last iteration; finished only',
    first_reward_plain Nullable(Float64) COMMENT 'mean plain return of the first iteration; finished only',
    last_reward_plain Nullable(Float64) COMMENT 'mean plain return of the last iteration; finished only',
    policy_version Nullable(Int64) COMMENT 'policy version the run ended with; finished only',
    error String COMMENT 'why the run failed; finished only',
    started_at Nullable(DateTime64(6, 'UTC')) COMMENT 'clock when the process began the run; started only',
    sandbox_tier LowCardinality(String) COMMENT 'sandbox that environments run in; started only',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, kafka_offset)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'life of every run: one row per RunStarted, RunResumed and RunFinished; query runs for one row per run';

-- iterations
CREATE TABLE IF NOT EXISTS spade.iterations
(
    run_id UUID COMMENT 'run',
    iteration Int32 COMMENT 'iteration, from 0',
    designed Int32 COMMENT 'designs',
    accepted Int32 COMMENT 'designs accepted',
    rejected Int32 COMMENT 'designs rejected',
    rollouts_completed Int32 COMMENT 'episodes played',
    rollouts_dropped Int32 COMMENT 'episodes given up',
    regrets_estimated Int32 COMMENT 'environments with a regret',
    regrets_unavailable Int32 COMMENT 'environments with too few valid episodes for one',
    policy_version Int64 COMMENT 'version the iteration was designed and played with',
    accepted_before Int64 COMMENT 'designs accepted in earlier iterations, ancestors included',
    steps Int64 COMMENT 'steps played',
    reward_plain Float64 COMMENT 'mean return over valid plain episodes',
    reward_hinted Float64 COMMENT 'mean return over valid hinted episodes',
    regret Float64 COMMENT 'mean of the paying estimator over environments',
    unlearnable_gap_share Float64 COMMENT 'environments whose gap the hint guard refused to pay, of those with a gap [share]',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, iteration)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per closed iteration of a run';

-- document_events
CREATE TABLE IF NOT EXISTS spade.document_events
(
    document_id UUID COMMENT 'document, or one chunk of it',
    event LowCardinality(String) COMMENT 'ingested or withdrawn',
    parent_id Nullable(UUID) COMMENT 'whole document that the chunk is part of; ingested only',
    chunk Int32 COMMENT 'chunk of the whole document, from 0; ingested only',
    chunks Int32 COMMENT 'chunks of the whole document; ingested only',
    source String COMMENT 'path relative to the folder that was added; ingested only',
    title String COMMENT 'title; ingested only',
    text String COMMENT 'text; ingested only',
    sha256 String COMMENT 'digest of the text, hexadecimal; ingested only',
    media_type LowCardinality(String) COMMENT 'media type of the source; ingested only',
    reason String COMMENT 'why the document was withdrawn; withdrawn only',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (document_id, kafka_offset)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'corpus, append only: one row per DocumentIngested and DocumentWithdrawn; the text of withdrawn documents is removed; query documents for one row per document';

-- embeddings
CREATE TABLE IF NOT EXISTS spade.embeddings
(
    run_id Nullable(UUID) COMMENT 'run of the design; NULL for documents',
    entity_id UUID COMMENT 'document or environment',
    entity_kind LowCardinality(String) COMMENT 'document or environment',
    model LowCardinality(String) COMMENT 'embedding model',
    dim Int32 COMMENT 'components of the vector',
    vector Array(Float32) COMMENT 'the vector',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (entity_id, model)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'vectors of documents and designs. With an embedding endpoint they come from EmbeddingComputed; with the built-in embedder the sink computes them again from the text, and event_id is the document\'s or the design\'s';

-- design_requests
CREATE TABLE IF NOT EXISTS spade.design_requests
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment of the slot\'s first attempt',
    iteration Int32 COMMENT 'iteration, from 0',
    slot Int32 COMMENT 'slot of the iteration, from 0',
    policy_version Int64 COMMENT 'policy version asked to design',
    memory_version Int64 COMMENT 'environments accepted in earlier iterations',
    design_group Nullable(UUID) COMMENT 'designs whose pay is compared',
    expected_designs Int32 COMMENT 'slots of the iteration',
    expected_attempts Int32 COMMENT 'episodes per arm that an accepted design will get',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per slot of an iteration that a design was asked for';

-- environment_events
CREATE TABLE IF NOT EXISTS spade.environment_events
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment: one attempt at a slot',
    event LowCardinality(String) COMMENT 'designed, accepted or rejected',
    iteration Int32 COMMENT 'iteration, from 0',
    slot Int32 COMMENT 'slot of the iteration, from 0',
    attempt Int32 COMMENT 'attempt at the slot, from 0',
    design_group Nullable(UUID) COMMENT 'designs whose pay is compared; designed only',
    policy_version Int64 COMMENT 'policy version that designed',
    runtime LowCardinality(String) COMMENT 'starlark or python; designed only',
    kind LowCardinality(String) COMMENT 'reasoning, tools or game, as the code declares; empty in a designed row',
    title String COMMENT 'title the code declares; empty in a designed row',
    code String COMMENT 'source text; designed only',
    code_sha256 String COMMENT 'digest of the code, hexadecimal; designed only',
    document_ids Array(UUID) COMMENT 'documents the designer saw, by rank; designed only',
    recalled_env_ids Array(UUID) COMMENT 'neighbours the designer saw, by rank; designed only',
    memory_version Int64 COMMENT 'environments in the memory that was recalled from; designed only',
    reject_stage LowCardinality(String) COMMENT 'check of the gate that failed; rejected only',
    reject_reason String COMMENT 'why it failed; rejected only',
    last_attempt Bool COMMENT 'whether the slot ended with this rejection; rejected only',
    novelty Nullable(Float64) COMMENT '1 - similarity of the nearest; NULL when there was no duplicate check',
    nearest_env_id Nullable(UUID) COMMENT 'nearest environment in the memory',
    nearest_similarity Nullable(Float64) COMMENT 'similarity of the nearest [cosine]',
    embedding_model LowCardinality(String) COMMENT 'embedding model of the duplicate check; accepted only',
    prompt_sha256 String COMMENT 'digest of the prompt, hexadecimal; designed only',
    prompt String COMMENT 'prompt as a JSON array of {role, content}; designed only',
    prompt_tokens Int32 COMMENT 'length of the prompt; designed only [tokens]',
    completion_tokens Int32 COMMENT 'length of the completion; designed only [tokens]',
    stop_reason LowCardinality(String) COMMENT 'why generation ended; designed only',
    model LowCardinality(String) COMMENT 'model that designed; designed only',
    design_ms Nullable(Float64) COMMENT 'time the design took; designed only [ms]',
    package String COMMENT 'fixed pools: distribution that the environment comes from; designed only',
    package_version String COMMENT 'fixed pools: its version; designed only',
    sandbox_tier LowCardinality(String) COMMENT 'sandbox the gate ran in',
    worker LowCardinality(String) COMMENT 'worker that made the event',
    max_steps Int32 COMMENT 'longest episode, as the code declares; accepted only',
    expected_plain Int32 COMMENT 'plain episodes to come; accepted only',
    expected_hinted Int32 COMMENT 'hinted episodes to come; accepted only',
    stats Map(LowCardinality(String), Float64) COMMENT 'figures the gate measured; accepted only',
    name String COMMENT 'fixed pools: what the environment is called there; designed only',
    seed_from Nullable(UInt64) COMMENT 'fixed pools: first env seed that is played; NULL for any; designed only',
    seed_to Nullable(UInt64) COMMENT 'fixed pools: last env seed that is played; NULL for any; designed only',
    pool_env_id Nullable(UUID) COMMENT 'designer fixed:POOL: environment of the pool that this is; designed only',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, event)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'designs, append only: one row per EnvironmentDesigned, EnvironmentAccepted and EnvironmentRejected; query environments for one row per environment';

-- environment_documents
CREATE TABLE IF NOT EXISTS spade.environment_documents
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment',
    document_id UUID COMMENT 'document',
    rank Int32 COMMENT 'place in the prompt, from 0',
    score Float64 COMMENT 'score it was sampled with [cosine]',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, rank)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'documents that the designer saw for an environment';

-- neighbours
CREATE TABLE IF NOT EXISTS spade.neighbours
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment',
    rank Int32 COMMENT 'place, from 0 = nearest',
    neighbour_id UUID COMMENT 'environment found near it',
    similarity Float64 COMMENT 'how near [cosine]',
    memory_version Nullable(Int64) COMMENT 'environments in the memory that was searched; NULL for dedup, which also sees lower slots of the iteration',
    used_for LowCardinality(String) COMMENT 'recall (shown to the designer) or dedup (duplicate check)',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, used_for, rank)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'environments that were found near another one, and what for';

-- rollouts
CREATE TABLE IF NOT EXISTS spade.rollouts
(
    run_id UUID COMMENT 'run',
    rollout_id UUID COMMENT 'episode',
    env_id UUID COMMENT 'environment',
    iteration Int32 COMMENT 'iteration, from 0',
    group_id Nullable(UUID) COMMENT 'episodes that advantages are taken within',
    arm LowCardinality(String) COMMENT 'plain, or hinted: the agent saw the hint',
    env_seed UInt64 COMMENT 'seed the environment was reset with',
    repeat Int32 COMMENT 'repeat of the env seed, from 0',
    policy_version Int64 COMMENT 'policy version that acted',
    staleness Int32 COMMENT 'how far that version was behind the newest the worker knew [versions]',
    total_reward Float64 COMMENT 'return of the episode, in [0, 1]',
    verify_score Nullable(Float64) COMMENT 'score of the environment\'s verification code, in [0, 1]; NULL when it gave none',
    outcome LowCardinality(String) COMMENT 'solved, failed, agent_error, env_error, verifier_error, timeout, overlong, cancelled or text_encoding',
    stop_reason LowCardinality(String) COMMENT 'why the episode ended',
    steps Int32 COMMENT 'steps played',
    terminated Bool COMMENT 'the environment ended the episode',
    truncated Bool COMMENT 'a limit ended the episode',
    final_observation String COMMENT 'observation after the last step',
    final_state_hash String COMMENT 'hash of the last state, hexadecimal',
    hint String COMMENT 'the hint; hinted arm only',
    hint_sha256 String COMMENT 'digest of the hint, hexadecimal; hinted arm only',
    model LowCardinality(String) COMMENT 'model that acted',
    prompt_tokens Int32 COMMENT 'prompts of the episode [tokens]',
    completion_tokens Int32 COMMENT 'completions of the episode [tokens]',
    nondeterministic Bool COMMENT 'the wall clock had a part in the episode',
    sandbox_tier LowCardinality(String) COMMENT 'sandbox the environment ran in',
    worker LowCardinality(String) COMMENT 'worker that played',
    error String COMMENT 'what went wrong, when something did',
    started_at Nullable(DateTime64(6, 'UTC')) COMMENT 'when its arm\'s episodes began, which are played side by side',
    finished_at Nullable(DateTime64(6, 'UTC')) COMMENT 'when its arm\'s episodes had ended',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per episode that was played';

-- dropped_rollouts
CREATE TABLE IF NOT EXISTS spade.dropped_rollouts
(
    run_id UUID COMMENT 'run',
    rollout_id UUID COMMENT 'episode',
    env_id UUID COMMENT 'environment',
    reason LowCardinality(String) COMMENT 'why it was not played',
    staleness Int32 COMMENT 'how far the policy version was behind [versions]',
    policy_version Int64 COMMENT 'policy version that would have acted',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per expected episode that was not played';

-- steps
CREATE TABLE IF NOT EXISTS spade.steps
(
    run_id UUID COMMENT 'run',
    rollout_id UUID COMMENT 'episode',
    env_id UUID COMMENT 'environment',
    arm LowCardinality(String) COMMENT 'plain, or hinted: the agent saw the hint',
    step Int32 COMMENT 'step of the episode, from 0',
    observation String COMMENT 'what the agent saw',
    action String COMMENT 'what it did',
    tool_name LowCardinality(String) COMMENT 'tool that the action called; empty when it called none',
    reward Float64 COMMENT 'reward of the action',
    terminated Bool COMMENT 'the environment ended the episode here',
    truncated Bool COMMENT 'a limit ended the episode here',
    logprob Float64 COMMENT 'log-probability of the whole action [nats]',
    state_hash String COMMENT 'hash of the state after the action, hexadecimal',
    info String COMMENT 'info that came with the observation, as JSON',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, rollout_id, step)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per step of an episode: the observation the agent saw, the action it took, and what followed; the last observation is rollouts.final_observation';

-- regrets
CREATE TABLE IF NOT EXISTS spade.regrets
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment',
    iteration Int32 COMMENT 'iteration, from 0',
    policy_version Int64 COMMENT 'policy version that acted',
    estimator LowCardinality(String) COMMENT 'estimator of the row; empty when the regret is unavailable',
    chosen Bool COMMENT 'this estimator pays the designer',
    n_hinted Int32 COMMENT 'valid hinted episodes [episodes]',
    n_plain Int32 COMMENT 'valid plain episodes [episodes]',
    invalid_hinted Int32 COMMENT 'hinted episodes that count for nothing [episodes]',
    invalid_plain Int32 COMMENT 'plain episodes that count for nothing [episodes]',
    n_pairs Int32 COMMENT 'pairs the estimator used; 0 when it is not a paired one [pairs]',
    reward_hinted Nullable(Float64) COMMENT 'mean hinted return; NULL without a valid episode',
    reward_plain Nullable(Float64) COMMENT 'mean plain return; NULL without a valid episode',
    var_hinted Nullable(Float64) COMMENT 'sample variance of the hinted return; NULL below two episodes',
    var_plain Nullable(Float64) COMMENT 'sample variance of the plain return; NULL below two episodes',
    success_hinted Nullable(Float64) COMMENT 'share of valid hinted episodes that were solved',
    success_plain Nullable(Float64) COMMENT 'share of valid plain episodes that were solved',
    regret Nullable(Float64) COMMENT 'the estimate; NULL when this estimator had too few episodes',
    stderr Nullable(Float64) COMMENT 'standard error of the estimate; NULL when this estimator had too few episodes',
    learnability Nullable(Float64) COMMENT 'p(1-p) of the plain arm; NULL when the regret is unavailable',
    hidden_share Nullable(Float64) COMMENT 'env seeds whose solution acts on a fact that no observation holds [share]',
    guarded Bool COMMENT 'the guard against unlearnable hints pays nothing for this gap',
    reason String COMMENT 'why the regret is unavailable; empty when it is available',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, estimator)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'regret of every environment: one row per estimator, or one row with no estimator and a reason when there were too few valid episodes; filter by chosen for the one that paid';

-- designer_rewards
CREATE TABLE IF NOT EXISTS spade.designer_rewards
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment',
    iteration Int32 COMMENT 'iteration, from 0',
    policy_version Int64 COMMENT 'policy version that designed',
    reward Float64 COMMENT 'the pay',
    regret_part Float64 COMMENT 'part paid for regret',
    validity_part Float64 COMMENT 'part paid for passing the gate',
    novelty_part Float64 COMMENT 'part paid for novelty',
    coverage_part Float64 COMMENT 'part paid for rare kinds',
    guard_part Float64 COMMENT 'what the guard against unlearnable hints took away, at most 0',
    weights Map(LowCardinality(String), Float64) COMMENT 'weight of each part',
    measured Bool COMMENT 'false: the regret was unavailable and its part is 0',
    design_group Nullable(UUID) COMMENT 'designs whose pay is compared',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'what each design was paid, and for what';

-- batches
CREATE TABLE IF NOT EXISTS spade.batches
(
    run_id UUID COMMENT 'run',
    batch_id UUID COMMENT 'batch',
    role LowCardinality(String) COMMENT 'agent or designer',
    iteration Int32 COMMENT 'iteration, from 0',
    policy_version Int64 COMMENT 'policy version that the batch trains',
    rows Int64 COMMENT 'Arrow rows',
    sha256 String COMMENT 'digest of the Arrow rows, hexadecimal',
    rollout_ids Array(UUID) COMMENT 'episodes in the batch, in its order; empty for the designer\'s',
    groups Int32 COMMENT 'groups that advantages were taken within',
    groups_without_signal Int32 COMMENT 'groups whose rewards were all equal',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, iteration, role)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per training batch';

-- advantages
CREATE TABLE IF NOT EXISTS spade.advantages
(
    run_id UUID COMMENT 'run',
    batch_id UUID COMMENT 'batch',
    role LowCardinality(String) COMMENT 'agent or designer',
    rollout_id Nullable(UUID) COMMENT 'episode; NULL for a designer',
    env_id UUID COMMENT 'environment that was played or designed',
    group_id Nullable(UUID) COMMENT 'rows of one group share a baseline',
    estimator LowCardinality(String) COMMENT 'advantage estimator',
    eps Float64 COMMENT 'added to the standard deviation before dividing',
    ddof Int32 COMMENT 'delta degrees of freedom of the standard deviation',
    reward Float64 COMMENT 'return of the episode, or pay of the design',
    advantage Float64 COMMENT 'the credit',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, batch_id, env_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'credit of every episode and design in a training batch';

-- policy_events
CREATE TABLE IF NOT EXISTS spade.policy_events
(
    run_id UUID COMMENT 'run',
    policy_from Int64 COMMENT 'version before; -1 for the version a run begins with',
    policy_to Int64 COMMENT 'version after',
    iteration Int32 COMMENT 'iteration, from 0; -1 for the version a run begins with',
    roles Array(String) COMMENT 'roles that were trained',
    batch_ids Array(UUID) COMMENT 'batches that were trained on',
    trainer LowCardinality(String) COMMENT 'trainer plugin',
    trainer_version LowCardinality(String) COMMENT 'its version',
    device LowCardinality(String) COMMENT 'device it trained on',
    loss Nullable(Float64) COMMENT 'loss, where the trainer reports it',
    grad_norm Nullable(Float64) COMMENT 'norm of the gradient, where the trainer reports it',
    kl Nullable(Float64) COMMENT 'divergence from the version before, where the trainer reports it [nats]',
    entropy Nullable(Float64) COMMENT 'entropy of the policy, where the trainer reports it [nats]',
    reward_mean Nullable(Float64) COMMENT 'mean reward of the batches, where the trainer reports it',
    metrics Map(LowCardinality(String), Float64) COMMENT 'everything the trainer reports, by name',
    duration_ms Nullable(Float64) COMMENT 'time the update took [ms]',
    checkpoint_sha256 String COMMENT 'digest of the checkpoint, hexadecimal',
    checkpoint_bytes Int64 COMMENT 'size of the checkpoint [bytes]',
    checkpoint_uri String COMMENT 'where the checkpoint lies; empty when it rides in the log',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, policy_from, kafka_offset)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'policy updates as they were appended; query policies, which tells the update from void ones';

-- evaluations
CREATE TABLE IF NOT EXISTS spade.evaluations
(
    run_id UUID COMMENT 'run',
    policy_version Int64 COMMENT 'policy version that acted',
    suite LowCardinality(String) COMMENT 'suite of the task',
    suite_sha256 String COMMENT 'digest of the suite\'s sources, hexadecimal',
    task_id String COMMENT 'task',
    category LowCardinality(String) COMMENT 'math, science, code, reasoning, tools or games',
    kind LowCardinality(String) COMMENT 'reasoning, tools or game',
    env_seed UInt64 COMMENT 'seed the task was reset with',
    seed_index Int32 COMMENT 'place of the seed among the task\'s, from 0',
    reward Float64 COMMENT 'return of the episode, in [0, 1]',
    success Bool COMMENT 'the task was solved',
    milestones Array(String) COMMENT 'milestones that were reached',
    outcome LowCardinality(String) COMMENT 'outcome of the episode',
    steps Int32 COMMENT 'steps played',
    nearest_designed_env Nullable(UUID) COMMENT 'the run\'s environment that is nearest to the task',
    nearest_similarity Nullable(Float64) COMMENT 'how near [cosine]',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, policy_version, suite, task_id, seed_index)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'one row per episode of a held-out task';

-- replay_checks
CREATE TABLE IF NOT EXISTS spade.replay_checks
(
    run_id UUID COMMENT 'run',
    rollout_id UUID COMMENT 'episode',
    env_id UUID COMMENT 'environment',
    equal Bool COMMENT 'the execution equals the record',
    first_divergent_step Nullable(Int32) COMMENT 'first step that differs, from 0; NULL when equal',
    cause String COMMENT 'why it differs, as far as known',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (run_id, env_id, rollout_id)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'recorded episodes that were executed again, and whether they came out equal';

-- dead_letters
CREATE TABLE IF NOT EXISTS spade.dead_letters
(
    topic LowCardinality(String) COMMENT 'topic of the record',
    partition Int32 COMMENT 'partition of the record',
    offset Int64 COMMENT 'offset of the record',
    error String COMMENT 'why it could not be decoded or applied',
    payload String COMMENT 'the record\'s bytes',
    key String COMMENT 'the record\'s key',
    consumer LowCardinality(String) COMMENT 'who gave it up',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    writer UInt64 EPHEMERAL 0 COMMENT 'token of the sink that inserts; checked against the claim on the partition and not stored',
    ingested_at DateTime64(6, 'UTC') DEFAULT if(throwIf(writer != joinGet('spade._claims', 'writer', concat(kafka_topic, ':', toString(kafka_partition))), 'another writer holds this partition') = 0, now64(6), now64(6)) COMMENT 'when the row was inserted'
)
ENGINE = MergeTree
ORDER BY (topic, partition, offset)
SETTINGS non_replicated_deduplication_window = 100000
COMMENT 'records that could not be decoded or applied';

-- runs
CREATE OR REPLACE VIEW spade.runs
(
    run_id UUID COMMENT 'run',
    name String COMMENT 'name the run was given',
    kind LowCardinality(String) COMMENT 'train, fork or ablation; pool: an import of environments',
    parent_run_id Nullable(UUID) COMMENT 'run that a fork or ablation came from',
    fork_iteration Nullable(Int32) COMMENT 'first iteration that differs from the parent\'s',
    exactness LowCardinality(String) COMMENT 'forks: exact, estimate or fresh; empty otherwise',
    exact_until Nullable(Int32) COMMENT 'forks: iteration up to which the fork equals a run from scratch',
    seed UInt64 COMMENT 'seed of all randomness',
    ablations Array(String) COMMENT 'parts that were switched off',
    config String COMMENT 'semantic configuration as JSON',
    code_version LowCardinality(String) COMMENT 'version of the program that started the run',
    status LowCardinality(String) COMMENT 'running, finished, cancelled or failed',
    started_at Nullable(DateTime64(6, 'UTC')) COMMENT 'when the run was started',
    finished_at Nullable(DateTime64(6, 'UTC')) COMMENT 'when the run finished; NULL while it runs',
    sandbox_tier LowCardinality(String) COMMENT 'sandbox that environments run in',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    ingested_at DateTime64(6, 'UTC') COMMENT 'when the newest of the id\'s rows was inserted'
)
AS SELECT
    run_id,
    anyIf(e.name, event = 'started') AS name,
    anyIf(e.kind, event = 'started') AS kind,
    anyIf(e.parent_run_id, event = 'started') AS parent_run_id,
    anyIf(e.fork_iteration, event = 'started') AS fork_iteration,
    anyIf(e.exactness, event = 'started') AS exactness,
    anyIf(e.exact_until, event = 'started') AS exact_until,
    anyIf(e.seed, event = 'started') AS seed,
    anyIf(e.ablations, event = 'started') AS ablations,
    anyIf(e.config, event = 'started') AS config,
    anyIf(e.code_version, event = 'started') AS code_version,
    argMax(e.status, e.kafka_offset) AS status,
    anyIf(e.started_at, event = 'started') AS started_at,
    if(argMax(e.event, e.kafka_offset) = 'finished', max(e.event_time), NULL) AS finished_at,
    anyIf(e.sandbox_tier, event = 'started') AS sandbox_tier,
    argMin(e.event_id, e.kafka_offset) AS event_id,
    any(e.kafka_topic) AS kafka_topic,
    any(e.kafka_partition) AS kafka_partition,
    min(e.kafka_offset) AS kafka_offset,
    min(e.event_time) AS event_time,
    max(e.ingested_at) AS ingested_at
FROM spade.run_events AS e
GROUP BY run_id
COMMENT 'one row per run';

-- documents
CREATE OR REPLACE VIEW spade.documents
(
    document_id UUID COMMENT 'document, or one chunk of it',
    parent_id Nullable(UUID) COMMENT 'whole document that the chunk is part of',
    chunk Int32 COMMENT 'chunk of the whole document, from 0',
    source String COMMENT 'path relative to the folder that was added',
    title String COMMENT 'title',
    text String COMMENT 'text; empty once the document is withdrawn',
    sha256 String COMMENT 'digest of the text, hexadecimal',
    withdrawn Bool COMMENT 'whether the document was withdrawn',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    ingested_at DateTime64(6, 'UTC') COMMENT 'when the newest of the id\'s rows was inserted'
)
AS SELECT
    document_id,
    anyIf(e.parent_id, event = 'ingested') AS parent_id,
    anyIf(e.chunk, event = 'ingested') AS chunk,
    anyIf(e.source, event = 'ingested') AS source,
    anyIf(e.title, event = 'ingested') AS title,
    if(argMax(e.event, e.kafka_offset) = 'withdrawn', '', argMaxIf(e.text, e.kafka_offset, event = 'ingested')) AS text,
    anyIf(e.sha256, event = 'ingested') AS sha256,
    CAST(argMax(e.event, e.kafka_offset) = 'withdrawn', 'Bool') AS withdrawn,
    argMin(e.event_id, e.kafka_offset) AS event_id,
    any(e.kafka_topic) AS kafka_topic,
    any(e.kafka_partition) AS kafka_partition,
    min(e.kafka_offset) AS kafka_offset,
    min(e.event_time) AS event_time,
    max(e.ingested_at) AS ingested_at
FROM spade.document_events AS e
GROUP BY document_id
HAVING countIf(event = 'ingested') > 0
COMMENT 'corpus that grounds the designer: one row per document or chunk';

-- environments
CREATE OR REPLACE VIEW spade.environments
(
    run_id UUID COMMENT 'run',
    env_id UUID COMMENT 'environment: one attempt at a slot',
    iteration Int32 COMMENT 'iteration, from 0',
    slot Int32 COMMENT 'slot of the iteration, from 0',
    attempt Int32 COMMENT 'attempt at the slot, from 0',
    design_group Nullable(UUID) COMMENT 'designs whose pay is compared',
    policy_version Int64 COMMENT 'policy version that designed',
    runtime LowCardinality(String) COMMENT 'starlark or python',
    kind LowCardinality(String) COMMENT 'reasoning, tools or game, as the code declares; empty when it was not read that far',
    title String COMMENT 'title the code declares; empty when it was not read that far',
    code String COMMENT 'source text',
    code_sha256 String COMMENT 'digest of the code, hexadecimal',
    document_ids Array(UUID) COMMENT 'documents the designer saw, by rank',
    recalled_env_ids Array(UUID) COMMENT 'neighbours the designer saw, by rank',
    memory_version Int64 COMMENT 'environments in the memory that was recalled from',
    status LowCardinality(String) COMMENT 'designed (the gate has not decided), accepted or rejected',
    reject_stage LowCardinality(String) COMMENT 'check of the gate that failed; empty unless rejected',
    reject_reason String COMMENT 'why it failed; empty unless rejected',
    novelty Nullable(Float64) COMMENT '1 - similarity of the nearest; NULL when there was no duplicate check',
    nearest_env_id Nullable(UUID) COMMENT 'nearest environment in the memory',
    nearest_similarity Nullable(Float64) COMMENT 'similarity of the nearest [cosine]',
    embedding_model LowCardinality(String) COMMENT 'embedding model of the duplicate check; empty unless accepted',
    prompt_sha256 String COMMENT 'digest of the prompt, hexadecimal',
    prompt String COMMENT 'prompt as a JSON array of {role, content}',
    prompt_tokens Int32 COMMENT 'length of the prompt [tokens]',
    completion_tokens Int32 COMMENT 'length of the completion [tokens]',
    design_ms Nullable(Float64) COMMENT 'time the design took; NULL when it was not observed [ms]',
    package String COMMENT 'fixed pools: distribution that the environment comes from',
    package_version String COMMENT 'fixed pools: its version',
    sandbox_tier LowCardinality(String) COMMENT 'sandbox the gate ran in',
    designed_event_id Nullable(UUID) COMMENT 'event of the design',
    name String COMMENT 'fixed pools: what the environment is called there',
    seed_from Nullable(UInt64) COMMENT 'fixed pools: first env seed that is played; NULL for any',
    seed_to Nullable(UInt64) COMMENT 'fixed pools: last env seed that is played; NULL for any',
    pool_env_id Nullable(UUID) COMMENT 'designer fixed:POOL: environment of the pool that this is',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    ingested_at DateTime64(6, 'UTC') COMMENT 'when the newest of the id\'s rows was inserted'
)
AS SELECT
    run_id,
    env_id,
    any(e.iteration) AS iteration,
    any(e.slot) AS slot,
    any(e.attempt) AS attempt,
    anyIf(e.design_group, event = 'designed') AS design_group,
    anyIf(e.policy_version, event = 'designed') AS policy_version,
    anyIf(e.runtime, event = 'designed') AS runtime,
    anyIf(e.kind, event != 'designed') AS kind,
    anyIf(e.title, event != 'designed') AS title,
    anyIf(e.code, event = 'designed') AS code,
    anyIf(e.code_sha256, event = 'designed') AS code_sha256,
    anyIf(e.document_ids, event = 'designed') AS document_ids,
    anyIf(e.recalled_env_ids, event = 'designed') AS recalled_env_ids,
    anyIf(e.memory_version, event = 'designed') AS memory_version,
    argMax(e.event, e.kafka_offset) AS status,
    anyIf(e.reject_stage, event = 'rejected') AS reject_stage,
    anyIf(e.reject_reason, event = 'rejected') AS reject_reason,
    anyIf(e.novelty, event != 'designed') AS novelty,
    anyIf(e.nearest_env_id, event != 'designed') AS nearest_env_id,
    anyIf(e.nearest_similarity, event != 'designed') AS nearest_similarity,
    anyIf(e.embedding_model, event = 'accepted') AS embedding_model,
    anyIf(e.prompt_sha256, event = 'designed') AS prompt_sha256,
    anyIf(e.prompt, event = 'designed') AS prompt,
    anyIf(e.prompt_tokens, event = 'designed') AS prompt_tokens,
    anyIf(e.completion_tokens, event = 'designed') AS completion_tokens,
    anyIf(e.design_ms, event = 'designed') AS design_ms,
    anyIf(e.package, event = 'designed') AS package,
    anyIf(e.package_version, event = 'designed') AS package_version,
    argMaxIf(e.sandbox_tier, e.kafka_offset, e.sandbox_tier != '') AS sandbox_tier,
    anyIf(toNullable(e.event_id), event = 'designed') AS designed_event_id,
    anyIf(e.name, event = 'designed') AS name,
    anyIf(e.seed_from, event = 'designed') AS seed_from,
    anyIf(e.seed_to, event = 'designed') AS seed_to,
    anyIf(e.pool_env_id, event = 'designed') AS pool_env_id,
    argMin(e.event_id, e.kafka_offset) AS event_id,
    any(e.kafka_topic) AS kafka_topic,
    any(e.kafka_partition) AS kafka_partition,
    min(e.kafka_offset) AS kafka_offset,
    min(e.event_time) AS event_time,
    max(e.ingested_at) AS ingested_at
FROM spade.environment_events AS e
GROUP BY run_id, env_id
COMMENT 'one row per environment: a design, what the gate decided and why';

-- policies
CREATE OR REPLACE VIEW spade.policies
(
    run_id UUID COMMENT 'run',
    policy_from Int64 COMMENT 'version before; -1 for the version a run begins with',
    policy_to Int64 COMMENT 'version after',
    iteration Int32 COMMENT 'iteration, from 0; -1 for the version a run begins with',
    roles Array(String) COMMENT 'roles that were trained',
    batch_ids Array(UUID) COMMENT 'batches that were trained on',
    trainer LowCardinality(String) COMMENT 'trainer plugin',
    trainer_version LowCardinality(String) COMMENT 'its version',
    device LowCardinality(String) COMMENT 'device it trained on',
    loss Nullable(Float64) COMMENT 'loss, where the trainer reports it',
    grad_norm Nullable(Float64) COMMENT 'norm of the gradient, where the trainer reports it',
    kl Nullable(Float64) COMMENT 'divergence from the version before, where the trainer reports it [nats]',
    entropy Nullable(Float64) COMMENT 'entropy of the policy, where the trainer reports it [nats]',
    reward_mean Nullable(Float64) COMMENT 'mean reward of the batches, where the trainer reports it',
    duration_ms Nullable(Float64) COMMENT 'time the update took [ms]',
    checkpoint_sha256 String COMMENT 'digest of the checkpoint, hexadecimal',
    checkpoint_bytes Int64 COMMENT 'size of the checkpoint [bytes]',
    checkpoint_uri String COMMENT 'where the checkpoint lies; empty when it rides in the log',
    void Bool COMMENT 'an earlier record had already updated this version: this one does not count',
    event_id UUID COMMENT 'event that the row came from',
    kafka_topic LowCardinality(String) COMMENT 'topic of the event\'s record',
    kafka_partition Int32 COMMENT 'partition of the event\'s record',
    kafka_offset Int64 COMMENT 'offset of the event\'s record; of its last one when it has several',
    event_time DateTime64(6, 'UTC') COMMENT 'when the event was made',
    ingested_at DateTime64(6, 'UTC') COMMENT 'when the row was inserted'
)
AS SELECT
    run_id,
    policy_from,
    policy_to,
    iteration,
    roles,
    batch_ids,
    trainer,
    trainer_version,
    device,
    loss,
    grad_norm,
    kl,
    entropy,
    reward_mean,
    duration_ms,
    checkpoint_sha256,
    checkpoint_bytes,
    checkpoint_uri,
    CAST(row_number() OVER (PARTITION BY run_id, policy_from ORDER BY kafka_offset) > 1, 'Bool') AS void,
    event_id,
    kafka_topic,
    kafka_partition,
    kafka_offset,
    event_time,
    ingested_at
FROM spade.policy_events
COMMENT 'policy updates: the first record per run and version is the update, later ones are void';

