import {
  endpointBoxes,
  rulesOf,
} from '../../../../../src/diagnostics/adapters/page/browser/views/port-drawing.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../../../src/diagnostics/application/explain/explanation.js';

const NONE = new Map<string, string>();

const endpoint = (number: number, more: Partial<EndpointExplanation> = {}): EndpointExplanation => ({
  address: `10.244.0.${number}`,
  port: 8080,
  local: false,
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
  portName: 'http',
  protocol: 'TCP',
  status: { state: 'pending' },
  frontends,
  endpoints,
  findings: [],
  affinitySeconds: 0,
  sourceRanges: [],
});

describe('the drawing of a service port', () => {
  it('leads from each frontend to its rule, and from the rule to the endpoints that its policy allows', () => {
    const one = port(
      [
        frontend(1),
        frontend(2),
        frontend(3, { policy: 'Local' }),
        frontend(4, { policy: 'Local', outcome: 'drop' }),
      ],
      [endpoint(1), endpoint(2, { local: true }), endpoint(3, { used: false })],
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
  });

  it('has one box for the endpoints that do not fit', () => {
    const many = Array.from({ length: 100 }, (_, number) => endpoint(number));
    const boxes = endpointBoxes(many, NONE, 10);
    expect(boxes).toHaveLength(10);
    expect(boxes.at(-1)).toEqual({ mark: 'good', title: 'and 91 more', words: 'the list has all' });
    expect(endpointBoxes(many, NONE, 100)).toHaveLength(100);
  });

  it('tells when endpoints came that are news', () => {
    const arrivals = new Map([['10.244.0.2:8080', new Date(2026, 4, 4, 12, 2, 11).toISOString()]]);
    const boxes = endpointBoxes([endpoint(1), endpoint(2)], arrivals, 10);
    expect(boxes.map(({ words }) => words)).toEqual(['ready, used', 'came 2026-05-04 12:02:11, ready, used']);
  });
});
