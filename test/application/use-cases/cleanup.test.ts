import { Cleanup } from '../../../src/application/use-cases/cleanup.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

const clean = { name: 'clean', cleanUp: () => Promise.resolve([]) };
const failing = { name: 'failing', cleanUp: () => Promise.reject(new Error('EPERM')) };
const unseen = { name: 'unseen', cleanUp: () => Promise.resolve(['cannot look for ipsets', 'no iptables']) };

describe('Cleanup', () => {
  it('removes the rules of all modes', async () => {
    const removed: string[] = [];
    const modes = ['a', 'b'].map((name) => ({
      name,
      cleanUp: () => Promise.resolve(removed.push(name)).then(() => []),
    }));
    await new Cleanup(modes, new MemoryLogger()).run();
    expect(removed).toEqual(['a', 'b']);
  });

  it('goes on after a failure, logs each, and rejects as kube-proxy does', async () => {
    const logger = new MemoryLogger();
    await expect(new Cleanup([failing, unseen, unseen, clean], logger).run()).rejects.toThrow(
      'encountered an error while tearing down rules',
    );
    expect(
      logger.lines.map(({ level, message, facts }) => [level, message, facts.mode ?? facts.problem]),
    ).toEqual([
      ['error', 'cannot remove rules', 'failing'],
      ['error', 'rules may remain', 'cannot look for ipsets'],
      ['error', 'rules may remain', 'no iptables'],
    ]);
  });

  it.each([failing, unseen])('rejects if only $name cannot be removed', async (mode) => {
    await expect(new Cleanup([clean, mode], new MemoryLogger()).run()).rejects.toThrow('tearing down rules');
  });
});
