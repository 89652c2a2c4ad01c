import { differenceRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import { Diff } from '../../../../src/diagnostics/application/difference/diff.js';
import { Served } from '../../../support/http/served.js';

const web = { sign: '-', text: 'element', servicePort: 'shop/web' } as const;
const rule = { sign: '+', text: 'rule' } as const;
let served: Served;
let diff: Diff;

beforeEach(async () => {
  diff = new Diff('nftables', [{ family: 'IPv4', differences: () => Promise.resolve([rule, web]) }]);
  served = await Served.start(differenceRoutes(diff));
});
afterEach(() => served.stop());

it('shows what differs, of all or of one Service', async () => {
  const response = await served.get('/debug/diff');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(await response.json()).toEqual({
    mode: 'nftables',
    families: [{ family: 'IPv4', lines: [web, rule], omitted: 0 }],
  });
  expect(JSON.parse(await served.text('/debug/diff?service=shop%2Fweb'))).toMatchObject({
    families: [{ lines: [web] }],
  });
});

it('says nothing to a client that has left', async () => {
  let finish = (): void => undefined;
  const compared = new Promise<readonly []>((resolve) => (finish = () => resolve([])));
  diff = new Diff('nftables', [{ family: 'IPv4', differences: () => compared }]);
  await served.stop();
  served = await Served.start(differenceRoutes(diff));
  const leaving = new AbortController();
  const asked = served.get('/debug/diff', { signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await expect(asked).rejects.toThrow();
  finish();
  expect(await served.text('/debug/diff')).toContain('"mode":"nftables"');
  expect(served.logger.lines).toEqual([]);
});
