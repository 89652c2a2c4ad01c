import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { IptablesHostReader } from '../../../src/adapters/iptables/iptables-host.js';

function toolOn(...lacking: readonly string[]) {
  return {
    identify: () => Promise.resolve({ randomFully: true }),
    lackingMatches: () => Promise.resolve(lacking),
  };
}
const tool = toolOn();

describe('IptablesHostReader', () => {
  it('goes without counters where there are none, and says so once', async () => {
    const logger = new MemoryLogger();
    const counters = { ensure: () => Promise.reject(new Error('EINVAL')) };
    const reader = new IptablesHostReader(tool, counters, logger, '/nowhere');
    expect(await reader.read('IPv4')).toEqual({ randomFully: true, tcpLiberal: false, counters: new Set() });
    await reader.read('IPv4');
    expect(logger.lines).toHaveLength(1);
    expect(
      (await new IptablesHostReader(tool, undefined, logger, '/nowhere').read('IPv4')).counters.size,
    ).toBe(0);
  });

  it('says once of each match that the kernel lacks what it means, and goes without counters for want of nfacct', async () => {
    const logger = new MemoryLogger();
    const counters = { ensure: () => Promise.resolve() };
    const reader = new IptablesHostReader(
      toolOn('statistic', 'recent', 'nfacct'),
      counters,
      logger,
      '/nowhere',
    );
    expect((await reader.read('IPv4')).counters.size).toBe(0);
    await reader.read('IPv6');
    expect(logger.at('warn').map(({ message }) => message)).toEqual([
      "this kernel lacks the iptables match `statistic' (module xt_statistic): service ports with several endpoints cannot be programmed",
      "this kernel lacks the iptables match `recent' (module xt_recent): service ports with session affinity cannot be programmed",
      "this kernel lacks the iptables match `nfacct' (module xt_nfacct): rules have no counters",
    ]);
    const whole = new IptablesHostReader(tool, counters, logger, '/nowhere');
    expect((await whole.read('IPv4')).counters.size).toBe(2);
  });

  it('looks at the sysctl once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iptables-host-'));
    try {
      const sysctl = join(folder, 'liberal');
      writeFileSync(sysctl, '1\n');
      const reader = new IptablesHostReader(tool, undefined, new MemoryLogger(), sysctl);
      expect(await reader.read('IPv4')).toMatchObject({ tcpLiberal: true });
      writeFileSync(sysctl, '0\n');
      expect(await reader.read('IPv4')).toMatchObject({ tcpLiberal: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
