import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { chooseMode } from '../../../src/bootstrap/modes/choose-mode.js';
import { NftablesMode } from '../../../src/bootstrap/modes/nftables-mode.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

const TOO_OLD = 'the kernel is too old';

describe.each([
  { has: 'nftables', problem: undefined },
  { has: 'no nftables', problem: TOO_OLD },
])('on a machine that has $has', ({ problem }) => {
  it.each([
    { requested: '', chosen: 'iptables' },
    { requested: 'iptables', chosen: 'iptables' },
    { requested: 'nftables', chosen: 'nftables' },
    { requested: 'ipvs', chosen: 'ipvs' },
    { requested: 'userspace', chosen: 'userspace' },
    { requested: 'auto', chosen: problem === undefined ? 'nftables' : 'iptables' },
  ])('the mode "$requested" is $chosen', async ({ requested, chosen }) => {
    const probe = jest.spyOn(NftablesMode.prototype, 'problem').mockResolvedValue(problem);
    try {
      const logger = new MemoryLogger();
      const commandLine = parseCommandLine(['--proxy-mode', requested], {
        readFile: () => '',
        hostname: () => 'node1',
      });
      const { mode, commandLine: changed } = await chooseMode(commandLine, logger);
      expect([mode.name, changed.configuration.mode]).toEqual([chosen, chosen]);
      const isReported = requested === 'auto' && problem !== undefined;
      expect(logger.at('warn').map(({ facts }) => facts)).toEqual(isReported ? [{ problem }] : []);
    } finally {
      probe.mockRestore();
    }
  });
});
