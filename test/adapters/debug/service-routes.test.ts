import { serviceRoutes } from '../../../src/adapters/debug/service-routes.js';
import type { ExplainAddress } from '../../../src/application/explain/explain-address.js';
import type { Explain } from '../../../src/application/explain/explain.js';
import { subjectText, type AddressSubject } from '../../../src/application/explain/subject.js';
import type { ReportStatus } from '../../../src/application/status/report-status.js';
import { Served } from '../../support/http/served.js';

const explain = {
  service: (service: string) =>
    Promise.resolve({
      service,
      known: service === 'shop/cart',
      problems: service === 'shop/bad' ? ['Service shop/bad is ignored'] : [],
      families: [],
    }),
} as unknown as Explain;
const addresses = {
  address: (subject: AddressSubject) => ({
    subject: subjectText(subject),
    frontends: [],
    endpoints: [],
    ...(subject.port !== 80 && { otherwise: 'nobody has it' }),
  }),
} as unknown as ExplainAddress;
const families = [{ family: 'IPv4', waiting: 1 }];
const report = { status: () => ({ families, ignored: ['Service a/b: no'] }) } as unknown as ReportStatus;
let served: Served;

beforeEach(async () => {
  served = await Served.start(
    serviceRoutes(explain, addresses, report, () => ({ idle: true, appliedEvents: 3, changes: 7 })),
  );
});

afterEach(() => served.stop());

describe('serviceRoutes', () => {
  it('say how far the proxy has come', async () => {
    expect(await served.text('/debug/sync')).toBe('{"idle":true,"appliedEvents":3,"changes":7}');
  });

  it.each(['/debug/services', '/debug/services/'])('give an overview at %s', async (path) => {
    const response = await served.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual({ families, rejected: ['Service a/b: no'] });
  });

  it.each([
    ['shop/cart', 200],
    ['shop/bad', 200],
    ['shop/none', 404],
    ['shop', 404],
  ])('explain %s with status %i', async (service, status) => {
    const response = await served.get(`/debug/services/${service}`);
    expect([response.status, await response.json()]).toEqual([status, await explain.service(service)]);
  });

  it('tolerate paths that are not text', async () => {
    expect((await served.get('/debug/services/%E0%A4%A')).status).toBe(404);
  });

  it.each([
    ['shop/cart', 200, { service: 'shop/cart' }],
    ['shop/none', 404, { service: 'shop/none' }],
    ['10.96.0.1:80/tcp', 200, { subject: '10.96.0.1:80/TCP' }],
    ['[FD00::1]:81', 404, { subject: '[fd00::1]:81', otherwise: 'nobody has it' }],
    ['what is this', 400, { error: expect.stringContaining('"what is this"') as string }],
    ['', 400, { error: expect.stringContaining('NAMESPACE/NAME') as string }],
  ])('explain the subject %s with status %i', async (subject, status, body) => {
    const response = await served.get(`/debug/explain?${new URLSearchParams({ subject }).toString()}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject(body);
  });
});
