// Uses the embedded vector server through Qdrant's own JavaScript client: makes
// a collection, fills it, lists, searches with a filter, and scrolls in pages.
// Prints one JSON object; the Go test beside this file judges it.
//
//	node client.js http://HOST:PORT   (the key is read from QDRANT_API_KEY)
import { QdrantClient } from '@qdrant/js-client-grpc';

const keyword = (key, value) => ({
  conditionOneOf: {
    case: 'field',
    value: { key, match: { matchValue: { case: 'keyword', value } } },
  },
});

const num = (n) => ({ pointIdOptions: { case: 'num', value: BigInt(n) } });

const point = (id, data, run) => ({
  id: num(id),
  vectors: { vectorsOptions: { case: 'vector', value: { vector: { case: 'dense', value: { data } } } } },
  payload: {
    run: { kind: { case: 'stringValue', value: run } },
    n: { kind: { case: 'integerValue', value: BigInt(id) } },
  },
});

async function scroll(points, collectionName) {
  const pages = [];
  let offset;
  do {
    const page = await points.scroll({ collectionName, limit: 2, offset, withPayload: { selectorOptions: { case: 'enable', value: true } } });
    pages.push(page.result.map((p) => Number(p.id.pointIdOptions.value)));
    offset = page.nextPageOffset;
  } while (offset);
  return pages;
}

const client = new QdrantClient({ url: process.argv[2], apiKey: process.env.QDRANT_API_KEY });
const [service, collections, points] = ['service', 'collections', 'points'].map((name) => client.api(name));
const collectionName = 'from-javascript';

const health = await service.healthCheck({});
await collections.create({
  collectionName,
  vectorsConfig: { config: { case: 'params', value: { size: 3n, distance: 1 } } },
});
await points.createFieldIndex({ collectionName, fieldName: 'run', fieldType: 0, wait: true });
const written = await points.upsert({
  collectionName,
  wait: true,
  points: [point(1, [1, 0, 0], 'a'), point(2, [0.9, 0.1, 0], 'a'), point(3, [0, 1, 0], 'b'), point(4, [0, 0, 1], 'b'), point(5, [1, 1, 1], 'b')],
});
const listed = await collections.list({});
const found = await points.search({
  collectionName,
  vector: [1, 0, 0],
  limit: 2n,
  filter: { must: [keyword('run', 'a')] },
  withPayload: { selectorOptions: { case: 'enable', value: true } },
});
let refused = '';
try {
  await points.search({ collectionName, vector: [1, 0], limit: 1n });
} catch (error) {
  refused = String(error.message);
}

console.log(JSON.stringify({
  version: health.version,
  status: written.result.status,
  collections: listed.collections.map((c) => c.name),
  hits: found.result.map((h) => [Number(h.id.pointIdOptions.value), h.score, h.payload.run.kind.value]),
  pages: await scroll(points, collectionName),
  refused,
}));
