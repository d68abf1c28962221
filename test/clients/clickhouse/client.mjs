// Runs @clickhouse/client against the server whose address is given, and prints what it saw as one line of JSON.
// client_test.go judges it.
import { createClient } from '@clickhouse/client';

const url = process.argv[2];
const writer = { username: process.env.WRITER, password: process.env.WRITER_PASSWORD };
const reader = { username: process.env.READER, password: process.env.READER_PASSWORD };
const seen = {};

function open(user, more = {}) {
  return createClient({ url, database: 'spade', ...user, ...more });
}

async function failure(work) {
  try {
    await work();
    return 'no error';
  } catch (err) {
    return { code: err.code, type: err.type, message: String(err.message).slice(0, 300) };
  }
}

async function write() {
  const client = open(writer, { compression: { request: true, response: true } });
  seen.ping = (await client.ping()).success;
  await client.command({
    query: `CREATE TABLE js (id UInt64, name String, score Nullable(Float64), tags Array(String), at DateTime64(6, 'UTC'))
            ENGINE = MergeTree ORDER BY id`,
  });
  const rows = Array.from({ length: 1000 }, (_, i) => ({
    id: i, name: `näme\n\n${i}`, score: i % 2 ? i / 4 : null, tags: ['a', String(i)], at: '2026-11-29 12:34:56.789123',
  }));
  const inserted = await client.insert({ table: 'js', values: rows, format: 'JSONEachRow' });
  seen.insertSummary = inserted.summary.written_rows;
  seen.insertQueryId = inserted.query_id.length > 0;
  await client.insert({ table: 'js', values: [[5000, 'x', 1.5, [], '2026-01-01 00:00:00.000000']], format: 'JSONCompactEachRow', columns: ['id', 'name', 'score', 'tags', 'at'] });
  await client.close();
}

async function read() {
  const client = open(reader, { compression: { response: true } });
  const json = await client.query({
    query: 'SELECT id, name, score, tags, at FROM js WHERE id = {id:UInt64}',
    query_params: { id: 7 },
    format: 'JSON',
  });
  const whole = await json.json();
  seen.row = whole.data[0];
  seen.meta = whole.meta.map((m) => m.type);
  const text = await client.query({ query: 'SELECT {s:String} AS s', query_params: { s: "it's\ta\nline\\" }, format: 'JSONEachRow' });
  seen.param = (await text.json())[0].s;
  const named = await client.query({ query: 'SELECT 1', query_id: 'chosen-by-js' });
  seen.queryId = named.query_id;
  await named.text();

  let count = 0;
  const large = await client.query({ query: 'SELECT number AS n FROM numbers(300000)', format: 'JSONEachRow' });
  for await (const chunk of large.stream()) {
    count += chunk.length;
  }
  seen.streamed = count;

  seen.unknownTable = await failure(() => client.query({ query: 'SELECT * FROM nowhere' }));
  seen.syntax = await failure(() => client.query({ query: 'SELECT FROM (' }));
  seen.write = await failure(() => client.command({ query: 'DROP TABLE js' }));
  seen.insert = await failure(() => client.insert({ table: 'js', values: [{ id: 1 }], format: 'JSONEachRow' }));
  seen.session = await failure(() => client.query({ query: 'SELECT 1', session_id: 'abc' }));
  seen.midStream = await failure(async () => {
    const cut = await client.query({ query: 'SELECT throwIf(number = 150000) AS x, toString(number) AS n FROM numbers(200000)', format: 'JSONEachRow' });
    for await (const chunk of cut.stream()) {
      count += chunk.length;
    }
  });

  const abort = new AbortController();
  const slow = client.query({
    query: 'SELECT sum(sleepEachRow(0.01)) FROM numbers(100000)', query_id: 'js-slow', abort_signal: abort.signal,
    clickhouse_settings: { max_block_size: '1' },
  });
  setTimeout(() => abort.abort(), 300);
  seen.aborted = await failure(() => slow);
  await client.close();
}

async function login() {
  const client = open({ username: 'spade', password: 'guess' });
  seen.login = await failure(() => client.query({ query: 'SELECT 1' }));
  await client.close();
}

await write();
await read();
await login();
console.log(JSON.stringify(seen));
