import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { IptablesHostReader } from '../../../src/adapters/iptables/iptables-host.js';
import type { IptablesIdentity } from '../../../src/adapters/iptables/iptables-tool.js';

const tool = { identify: () => Promise.resolve({ randomFully: true } as IptablesIdentity) };

describe('IptablesHostReader', () => {
  it('goes without counters where there are none, and says so once', async () => {
    const logger = new MemoryLogger();
    const counters = { ensure: () => Promise.reject(new Error('EINVAL')) };
    const reader = new IptablesHostReader(tool, counters, logger, '/nowhere');
    expect(await reader.read()).toEqual({ randomFully: true, tcpLiberal: false, counters: new Set() });
    await reader.read();
    expect(logger.lines).toHaveLength(1);
    expect((await new IptablesHostReader(tool, undefined, logger, '/nowhere').read()).counters.size).toBe(0);
  });

  it('looks at the sysctl once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'iptables-host-'));
    try {
      const sysctl = join(folder, 'liberal');
      writeFileSync(sysctl, '1\n');
      const reader = new IptablesHostReader(tool, undefined, new MemoryLogger(), sysctl);
      expect(await reader.read()).toMatchObject({ tcpLiberal: true });
      writeFileSync(sysctl, '0\n');
      expect(await reader.read()).toMatchObject({ tcpLiberal: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
