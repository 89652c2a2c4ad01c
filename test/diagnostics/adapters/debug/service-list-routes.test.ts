import { serviceListRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import { rawService } from '../../../support/objects.js';
import { Served } from '../../../support/http/served.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { timeText } from '../../../../src/domain/model/text.js';

const many = Array.from({ length: 1200 }, (_, index) =>
  rawService(
    { clusterIP: index === 7 ? 'None' : `10.96.${index >> 8}.${index & 255}` },
    { metadata: { namespace: index < 1000 ? 'a' : 'b', name: `s${index}` } },
  ),
);
const cluster = new SeenCluster().deliver(many);
cluster.statuses.set('IPv4', 'b/s1100/tcp/', {
  state: 'failed',
  sinceTime: timeText(1),
  reason: '"no"',
  attempts: 1,
});
let served: Served;

beforeAll(async () => {
  served = await Served.start(serviceListRoutes(cluster.list));
});
afterAll(() => served.stop());

interface Listed {
  readonly services: readonly { readonly name: string; readonly reason?: string }[];
  readonly unknownNames: readonly { readonly name: string }[];
}

async function listed(query: string): Promise<Listed> {
  const response = await served.get(`/debug/services${query}`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  return (await response.json()) as Listed;
}

describe('serviceListRoutes', () => {
  it('write all rows as one answer', async () => {
    const { services, unknownNames } = await listed('');
    expect([services.length, unknownNames]).toEqual([1199, []]);
    expect(new Set(services.map(({ name }) => name)).size).toBe(1199);
  });

  it.each([
    ['?namespace=b', 200, []],
    ['?namespace=none', 0, []],
    ['?name=s1&name=b/s1001&name=nope', 2, ['nope']],
    ['?namespace=a&name=s7', 1, []],
    ['?name=s7&name=nope', 1, ['nope']],
    ['?problems=true', 1199, []],
    ['?problems=true&name=s1100', 1, []],
  ])('take %s', async (query, rows, names) => {
    const { services, unknownNames } = await listed(query);
    expect([services.length, unknownNames.map(({ name }) => name)]).toEqual([rows, names]);
  });

  it('tell the reasons', async () => {
    expect((await listed('?name=b/s1100')).services[0]!.reason).toMatch(/: "no"$/);
    expect((await listed('?name=a/s7')).services[0]!.reason).toMatch(/headless/);
  });

  it('stop for a client that is gone', async () => {
    const abort = new AbortController();
    const answer = served.get('/debug/services', { signal: abort.signal });
    abort.abort();
    await expect(answer).rejects.toThrow();
    expect(served.logger.lines).toEqual([]);
    expect((await listed('?namespace=b')).services).toHaveLength(200);
  });
});
