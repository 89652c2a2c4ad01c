import { statusRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import { ChangeHistory } from '../../../../src/application/status/change-history.js';
import type { ReportStatus } from '../../../../src/diagnostics/application/status/report-status.js';
import { ServiceStatuses } from '../../../../src/application/status/service-statuses.js';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { Served } from '../../../support/http/served.js';

const report = { status: () => ({ state: 'degraded', reasons: ['one'] }) } as unknown as ReportStatus;
const history = new ChangeHistory(new ServiceStatuses(), new FakeClock(5));
history.repaired('IPv4', 2);
let served: Served;

beforeAll(async () => {
  served = await Served.start(statusRoutes(report, history));
});
afterAll(() => served.stop());

describe('statusRoutes', () => {
  it.each([
    ['/debug/status', report.status()],
    [
      '/debug/history',
      {
        changes: [{ kind: 'repaired', family: 'IPv4', time: '1970-01-01T00:00:00.005Z', writtenSteps: 2 }],
        total: 1,
      },
    ],
    [
      '/debug/history?service=',
      {
        changes: [{ kind: 'repaired', family: 'IPv4', time: '1970-01-01T00:00:00.005Z', writtenSteps: 2 }],
        total: 1,
      },
    ],
    ['/debug/history?service=shop/cart', { changes: [], total: 1 }],
    ['/debug/history?namespace=shop&since=10m&limit=3', { changes: [], total: 1 }],
  ])('answer %s', async (path, body) => {
    const response = await served.get(path);
    expect([response.status, await response.json()]).toEqual([200, body]);
  });

  it.each([
    ['since=10', 'since is a duration such as 10m'],
    ['limit=0', 'limit is a number of changes'],
  ])('reject /debug/history?%s', async (parameters, error) => {
    const response = await served.get(`/debug/history?${parameters}`);
    expect([response.status, await response.json()]).toEqual([400, { error }]);
  });
});
