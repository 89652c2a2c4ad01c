import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { Bench } from './bench.js';

describe('a change of the node', () => {
  const changeNode = (bench: Bench, parts: Partial<NodeNetwork>): Promise<void> => {
    const { forwarding, network } = bench.context;
    bench.context = { forwarding, network: { ...network, ...parts } };
    bench.loop.pending.nodeChanged();
    bench.loop.changed();
    return bench.settle();
  };

  it('has everything programmed anew if rules depend on it, also the first one after the start', async () => {
    const bench = new Bench();
    Object.assign(bench.backend, {
      rulesDependOn: (one: NodeNetwork, other: NodeNetwork) => one.masqueradeBit !== other.masqueradeBit,
    });
    await bench.begin('a', 'b');
    bench.calls();
    for (const masqueradeBit of [15, 16]) {
      await changeNode(bench, { masqueradeBit });
      await bench.clock.advanceAsync(1_000);
      expect(bench.syncs()).toEqual(['apply a b']);
    }
    await changeNode(bench, { masqueradeAll: true });
    await bench.clock.advanceAsync(1_000);
    expect(bench.syncs()).toEqual(['apply']);
    expect(bench.backend.node?.masqueradeAll).toBe(true);
  });
});
