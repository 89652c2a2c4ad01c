import { serviceRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import {
  type ExplainAddress,
  subjectText,
  type AddressSubject,
} from '../../../../src/diagnostics/application/explain/explain-address.js';
import type { Explain } from '../../../../src/diagnostics/application/explain/explain.js';
import { Served } from '../../../support/http/served.js';

const explain = {
  service: (service: string) =>
    Promise.resolve({
      service,
      known: service === 'shop/cart',
      objects: service === 'shop/bad' ? [{ reason: 'Service shop/bad is ignored' }] : [],
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
let served: Served;

beforeEach(async () => {
  served = await Served.start(
    serviceRoutes(explain, addresses, () => ({ idle: true, appliedEvents: 3, totalChanges: 7 })),
  );
});

afterEach(() => served.stop());

describe('serviceRoutes', () => {
  it('say how far the proxy has come', async () => {
    expect(await served.text('/debug/sync')).toBe('{"idle":true,"appliedEvents":3,"totalChanges":7}');
  });

  it.each([
    ['shop/cart', 200, { service: 'shop/cart' }],
    ['shop/bad', 200, { objects: [{ reason: 'Service shop/bad is ignored' }] }],
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
