import fc from 'fast-check';
import { type RawObject, quote, type Reading } from '../../../src/domain/decode/fields.js';
import { readEndpointSlice, readEndpoints } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../src/domain/decode/read-node.js';
import { readServiceCidr } from '../../../src/domain/decode/read-service-cidr.js';
import { readService } from '../../../src/domain/decode/read-service.js';
import {
  nodeSchema,
  serviceCidrSchema,
  endpointSliceSchema,
  endpointsSchema,
} from '../../../src/domain/validation/object-schemas.js';
import {
  endpointSliceWithDefaults,
  nodeWithDefaults,
  serviceWithDefaults,
} from '../../../src/domain/validation/defaults.js';
import type { Report } from '../../../src/domain/validation/schema.js';
import { serviceSchema } from '../../../src/domain/validation/service-schema.js';
import { rawService, rawSlice } from '../../support/objects.js';

const node = {
  metadata: { name: 'n1', labels: {} },
  spec: { podCIDRs: ['10.0.0.0/8'], taints: [{ key: 'a' }] },
  status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
};
const serviceCidr = { metadata: { name: 'a' }, spec: { cidrs: ['10.0.0.0/8'] } };
const endpoints = {
  metadata: { namespace: 'shop', name: 'cart' },
  subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'a', port: 1 }] }],
};
const service = rawService(
  {
    type: 'LoadBalancer',
    clusterIPs: ['10.96.7.1'],
    ipFamilies: ['IPv4'],
    ports: [{ name: 'web', protocol: 'TCP', port: 80, nodePort: 31080 }],
    externalIPs: ['192.0.2.1'],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 32111,
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
  },
  { status: { loadBalancer: { ingress: [{ ip: '203.0.113.9', ipMode: 'VIP' }] } } },
);
const slice = rawSlice({
  endpoints: [
    {
      addresses: ['10.0.0.1'],
      conditions: { ready: true },
      hints: { forZones: [{ name: 'a' }] },
      nodeName: 'n1',
    },
  ],
});

const RULES: readonly ((raw: RawObject, report: Report) => void)[] = [
  (raw, report) => serviceSchema(serviceWithDefaults(raw), '', report),
  (raw, report) => endpointSliceSchema(endpointSliceWithDefaults(raw), '', report),
  (raw, report) => nodeSchema(nodeWithDefaults(raw), '', report),
  (raw, report) => endpointsSchema(raw, '', report),
  (raw, report) => serviceCidrSchema(raw, '', report),
];

const readers: [string, (raw: unknown) => Reading<unknown>, unknown][] = [
  ['Service', readService, service],
  ['EndpointSlice', (raw) => readEndpointSlice(raw, 'n1'), slice],
  ['Endpoints', (raw) => readEndpoints(raw, 'n1'), endpoints],
  ['Node', readNode, node],
  ['ServiceCIDR', readServiceCidr, serviceCidr],
];

const HOSTILE = fc.oneof(
  fc.anything({
    withBigInt: true,
    withNullPrototype: true,
    withObjectString: true,
    withDate: true,
    withMap: true,
  }),
  fc.jsonValue(),
  fc.constantFrom<unknown>(
    null,
    '',
    'a"; flush ruleset',
    '10.0.0.1 }',
    '\u0000',
    -0,
    NaN,
    Infinity,
    1e308,
    cyclic(),
  ),
);

describe.each(readers)('%s from outside', (_, read, valid) => {
  it('is read when it is valid', () => {
    expect(read(valid)).toMatchObject({ value: expect.anything(), problems: [] });
  });

  it('never throws, and says what is wrong with what it does not take', () => {
    fc.assert(fc.property(HOSTILE, (raw) => expectReading(read(raw))));
  });

  it('never throws when one field anywhere is something else, nor do the rules of the API server', () => {
    const places = placesIn(valid);
    fc.assert(
      fc.property(fc.constantFrom(...places.slice(1)), HOSTILE, (place, value) => {
        const object = replaced(valid, place, value);
        expectReading(read(object));
        const problems: string[] = [];
        for (const rules of RULES)
          rules(object as RawObject, (field, what) => problems.push(`${field} ${what}`));
        expectPlain(problems);
      }),
      { numRuns: 80 },
    );
  });
});

describe('quote', () => {
  it.each([
    ['a\nb', '"a\\nb"'],
    [undefined, 'undefined'],
    [12n, '12'],
    [Symbol('s'), 'Symbol(s)'],
  ])('%p', (value, text) => {
    expect(quote(value)).toBe(text);
  });

  it('is short', () => {
    expect(quote('x'.repeat(1000))).toHaveLength(80);
  });

  it('survives what has no JSON', () => {
    expect(quote(cyclic())).toEqual(expect.any(String));
    expect(quote(Object.assign(Object.create(null), { a: 1n }))).toEqual(expect.any(String));
  });
});

/** Usable, ignored, or unusable for a reason; text of problems is safe in a log line. */
function expectReading({ value, ignored, problems }: Reading<unknown>): void {
  expect([value !== undefined, ignored !== undefined].filter(Boolean).length).toBeLessThanOrEqual(1);
  if (value === undefined && ignored === undefined) expect(problems.length).toBeGreaterThan(0);
  expectPlain(problems);
}

function expectPlain(problems: readonly string[]): void {
  // eslint-disable-next-line no-control-regex
  expect(problems.filter((problem) => /[\u0000-\u001f]/.test(problem))).toEqual([]);
}

/** As an alias in a YAML file can make. */
function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value.self = [value];
  return value;
}

type Place = readonly (string | number)[];

function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  return [place, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...place, key]))];
}

function replaced(value: unknown, place: Place, part: unknown): unknown {
  const [key, ...rest] = place;
  if (key === undefined) return part;
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value)
    ? [...value]
    : { ...(value as object) };
  (copy as Record<string, unknown>)[key] = replaced((value as Record<string, unknown>)[key], rest, part);
  return copy;
}
