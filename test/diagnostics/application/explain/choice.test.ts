import { choiceOf } from '../../../../src/diagnostics/application/explain/explain-port.js';
import { sampleEntry } from '../../../../src/testing/contract/sample-services.js';

const entry = sampleEntry('IPv4', 'web', { number: 1, weights: [1, 2, 5], balancingMethod: 'maglev' });

describe('the choice of endpoints in other modes', () => {
  it('is told by weights', () => {
    const { text, shares } = choiceOf(entry, 'ipvs')!;
    expect(text).toBe(
      "new connections are shared out by a hash of the client's address and port (maglev), by weight",
    );
    expect([...shares.values()]).toEqual([
      { slots: 1, totalSlots: 8 },
      { slots: 2, totalSlots: 8 },
      { slots: 5, totalSlots: 8 },
    ]);
  });

  it('is at random in mode iptables', () => {
    expect(choiceOf(entry, 'iptables')!.text).toBe('new connections are shared out at random, by weight');
  });
});
