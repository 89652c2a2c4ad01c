import fc from 'fast-check';
import {
  BOX_HEIGHT,
  drawingOf,
  type Box,
} from '../../../../../src/diagnostics/adapters/page/browser/views/service/drawing.js';
import { rulesOf } from '../../../../../src/diagnostics/adapters/page/browser/views/service/rules.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../../src/diagnostics/application/explain/explanation.js';

const NONE = new Map<string, string>();
/** Pixels: room for ten boxes, one above the other. */
const WINDOW = 720;

const endpoint = (number: number, more: Partial<EndpointExplanation> = {}): EndpointExplanation => ({
  address: `10.244.0.${number}`,
  port: 8080,
  isLocal: false,
  ready: true,
  serving: true,
  terminating: false,
  zoneHints: [],
  nodeHints: [],
  used: true,
  ...more,
});
const frontend = (number: number, more: Partial<FrontendExplanation> = {}): FrontendExplanation => ({
  kind: 'external-ip',
  address: `198.51.100.${number}`,
  port: 80,
  policy: 'Cluster',
  outcome: 'forward',
  reason: 'to 2 endpoints',
  ...more,
});
const port = (
  frontends: readonly FrontendExplanation[],
  endpoints: readonly EndpointExplanation[],
): PortExplanation => ({
  port: 'http',
  protocol: 'TCP',
  status: { state: 'pending' },
  frontends,
  endpoints,
  findings: [],
  affinitySeconds: 0,
  sourceRanges: [],
});

const ports = fc
  .record({
    frontends: fc.array(
      fc.record({
        policy: fc.constantFrom('Cluster' as const, 'Local' as const),
        outcome: fc.constantFrom('forward' as const, 'reject' as const, 'drop' as const),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    endpoints: fc.array(fc.record({ used: fc.boolean(), isLocal: fc.boolean() }), { maxLength: 60 }),
  })
  .map(({ frontends, endpoints }) =>
    port(
      frontends.map((more, number) => frontend(number, more)),
      endpoints.map((more, number) => endpoint(number, more)),
    ),
  );

describe('the drawing of a service port', () => {
  it.each([300, 1100])('has no box over another, and none outside, at a width of %i', (width) => {
    fc.assert(
      fc.property(ports, (one) => {
        const { boxes, height } = drawingOf(one, NONE, width, WINDOW);
        for (const { x, y, width: own } of boxes) {
          expect(x >= 0 && x + own <= width).toBe(true);
          expect(y >= 0 && y + BOX_HEIGHT <= height).toBe(true);
        }
        expect(boxes.some((a, place) => boxes.slice(place + 1).some((b) => overlap(a, b)))).toBe(false);
      }),
    );
  });

  it('leads from each frontend to its rule, and from the rule to the endpoints that its policy allows', () => {
    const one = port(
      [
        frontend(1),
        frontend(2),
        frontend(3, { policy: 'Local' }),
        frontend(4, { policy: 'Local', outcome: 'drop' }),
      ],
      [endpoint(1), endpoint(2, { isLocal: true }), endpoint(3, { used: false })],
    );
    expect(
      rulesOf(one).map(({ policy, outcome, frontends, endpoints }) => [
        policy,
        outcome,
        frontends.length,
        endpoints.map(({ address }) => address),
      ]),
    ).toEqual([
      ['Cluster', 'forward', 2, ['10.244.0.1', '10.244.0.2']],
      ['Local', 'forward', 1, ['10.244.0.2']],
      ['Local', 'drop', 1, []],
    ]);
    for (const width of [300, 1100]) {
      const { lines } = drawingOf(one, NONE, width, WINDOW);
      expect(lines.filter(({ leadsOn }) => leadsOn)).toHaveLength(3 + 3);
      expect(lines.filter(({ leadsOn }) => !leadsOn)).toHaveLength(1);
    }
  });

  it('tells in one box of the endpoints for which there is no room in the window, those that are used first', () => {
    const many = Array.from({ length: 100 }, (_, number) => endpoint(number, { used: number >= 90 }));
    const { boxes, height, lines } = drawingOf(port([frontend(1)], many), NONE, 1100, WINDOW);
    const endpoints = boxes.filter(({ kind }) => kind === 'endpoint');
    expect(endpoints).toHaveLength(10);
    expect(endpoints.at(-1)).toMatchObject({
      title: 'and 91 more',
      words: '1 used, 90 not used',
      mark: 'good',
    });
    expect(height).toBeLessThan(WINDOW);
    // One to the rule, and one from it to each box, the last one too: an endpoint that is told there is used.
    expect(lines).toHaveLength(11);
  });

  it('leads to the box that tells of the rest for an endpoint that is told there', () => {
    const many = Array.from({ length: 20 }, (_, number) => endpoint(number, { isLocal: number === 15 }));
    const { lines } = drawingOf(port([frontend(1, { policy: 'Local' })], many), NONE, 1100, WINDOW);
    expect(lines).toHaveLength(2);
  });

  it('fits into the window with any number of addresses, too, and on a phone', () => {
    const many = port(
      Array.from({ length: 50 }, (_, number) => frontend(number)),
      Array.from({ length: 1_000 }, (_, number) => endpoint(number)),
    );
    const wide = drawingOf(many, NONE, 1100, WINDOW);
    expect(wide.height).toBeLessThan(WINDOW);
    expect(wide.boxes.map(({ title }) => title)).toContain('and 41 more');
    expect(drawingOf(many, NONE, 300, WINDOW).height).toBeLessThan(WINDOW);
  });

  it('tells when endpoints came that are news', () => {
    const arrivals = new Map([['10.244.0.2:8080', new Date(2026, 4, 4, 12, 2, 11).toISOString()]]);
    const { boxes } = drawingOf(port([frontend(1)], [endpoint(1), endpoint(2)]), arrivals, 1100, WINDOW);
    expect(boxes.slice(-2).map(({ words }) => words)).toEqual([
      'used, ready',
      'came 2026-05-04 12:02:11, used, ready',
    ]);
  });
});

function overlap(a: Box, b: Box): boolean {
  const across = a.x < b.x + b.width && b.x < a.x + a.width;
  return across && a.y < b.y + BOX_HEIGHT && b.y < a.y + BOX_HEIGHT;
}
