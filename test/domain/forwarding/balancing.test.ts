import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Service } from '../../../src/domain/model/service.js';
import { endpoint, FORWARDING, service } from '../../support/samples.js';

const one = endpoint('10.244.2.1');
const two = endpoint('10.244.2.2');
const local = endpoint('10.244.1.1', { isLocal: true });

function forward(parts: Partial<Service>, endpoints: readonly Endpoint[]) {
  return forwardService(service(parts), () => endpoints, FORWARDING)[0]!;
}
const places = (list: readonly Endpoint[] | undefined) => list?.map(({ address }) => address);

describe('how endpoints are chosen', () => {
  it('is not said where it is at random, with equal chances', () => {
    for (const parts of [
      {},
      { balancingMethod: 'random' },
      { scheduler: 'random' },
      { scheduler: 'lblc' },
    ] as const)
      expect(forward(parts, [one, two])).not.toHaveProperty('balancing');
    const same = [
      { ...one, weight: 7 },
      { ...two, weight: 7 },
    ];
    expect(forward({}, same)).not.toHaveProperty('balancing');
  });

  it.each([
    [{ balancingMethod: 'maglev' }, 'maglev'],
    [{ balancingMethod: 'maglev', scheduler: 'rr' }, 'maglev'],
    [{ scheduler: 'mh' }, 'maglev'],
    [{ scheduler: 'sh' }, 'maglev-source'],
    [{ scheduler: 'rr' }, 'round-robin'],
    [{ scheduler: 'wrr' }, 'round-robin'],
    [{ balancingMethod: 'least-connections' }, 'least-connections'],
    [{ scheduler: 'wlc' }, 'least-connections'],
  ] as const)('is what the Service asks for: %j', (parts, method) => {
    expect(forward(parts, [one, two]).balancing).toEqual({ method, isWeighted: false });
  });

  it('is by the weights of slices, over which those of the Service prevail', () => {
    const heavy = { ...one, weight: 5 };
    expect(forward({}, [heavy, two]).balancing).toEqual({ method: 'random', isWeighted: true });
    const { endpoints, balancing } = forward({ weights: { [one.address]: 1 } }, [heavy, two]);
    expect(balancing).toBeUndefined();
    expect(endpoints.cluster!.map(({ weight }) => weight)).toEqual([1, undefined]);
  });
});

describe('an endpoint of weight 0', () => {
  it('gets no new connections where there are others, and keeps its flows', () => {
    const entry = forward({ weights: { [one.address]: 0 } }, [one, two]);
    expect(places(entry.endpoints.cluster)).toEqual([two.address]);
    expect(places(entry.endpoints.reachable)).toEqual([two.address]);
    expect(places(entry.flowEligibleEndpoints)).toEqual([one.address, two.address]);
  });

  it('counts like all where all have it', () => {
    const entry = forward({ weights: { [one.address]: 0, [two.address]: 0 } }, [one, two]);
    expect(places(entry.endpoints.cluster)).toEqual([one.address, two.address]);
    expect(entry).not.toHaveProperty('balancing');
  });

  it('is left out of each list by itself', () => {
    const weights = { [local.address]: 0 };
    const parts = {
      weights,
      externalPolicyLocal: true,
      ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
    } as const;
    const { endpoints, balancing } = forward(parts, [local, one]);
    expect(balancing).toBeUndefined();
    expect(places(endpoints.cluster)).toEqual([one.address]);
    expect(places(endpoints.local)).toEqual([local.address]);
    expect(places(endpoints.reachable)).toEqual([local.address, one.address]);
  });
});
