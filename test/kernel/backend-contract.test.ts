import { iptablesBackend, userspaceBackend } from '../support/backends.js';
import { execa } from 'execa';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backendContract } from '../../src/testing/contract/backend-contract.js';
import type { BackendSubject, ContractCase } from '../../src/testing/contract/backend-subject.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import type { IptablesVariant } from '../../src/adapters/iptables/iptables-commands.js';
import { IptablesTool } from '../../src/adapters/iptables/tool/iptables-tool.js';
import { XtablesLock } from '../../src/adapters/iptables/tool/xtables-lock.js';
import { iptablesSnapshot } from '../testing/contract/snapshots.js';
import { HOST } from '../support/iptables/services.js';

const family = 'IPv4';
const prefix = `t${process.pid}-contract`;
const STRANGERS =
  '*nat\n:MINE - [0:0]\n-A PREROUTING -j MINE\n-A MINE -j RETURN\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n';
const folder = mkdtempSync(join(tmpdir(), `${prefix}-`));
const lock = new XtablesLock(join(folder, 'xtables.lock'));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

type Open = (tool: IptablesTool) => ReturnType<BackendSubject<string>['open']>;

/** A place is a network namespace of its own, with a rule of somebody else's. */
function subject(variant: IptablesVariant, open: Open): BackendSubject<string> {
  const inside = (name: string, ...command: string[]) => ['netns', 'exec', name, ...command];
  const toolIn = (name: string) =>
    new IptablesTool({ variant, launcher: ['ip', 'netns', 'exec', name], lock });
  return {
    family,
    async makePlace() {
      const name = `${prefix}-${++made}`;
      await execa('ip', ['netns', 'add', name]);
      await toolIn(name).restore(family, [STRANGERS].values());
      return name;
    },
    removePlace: async (name) => void (await execa('ip', ['netns', 'del', name])),
    open: (name) => open(toolIn(name)),
    snapshot: async (name) => iptablesSnapshot(await toolIn(name).save(family)),
    async damage(name) {
      const command = [`iptables-${variant}`, '-t', 'nat', '-D', 'PREROUTING', '1'];
      await execa('ip', inside(name, ...command));
    },
  };
}

const iptables: Open = (tool) =>
  iptablesBackend(family, tool, undefined, () => Promise.resolve(HOST), new MemoryLogger());

/** Its sockets are outside of the namespaces, where ports may be others'. */
const userspace: Open = (tool) =>
  userspaceBackend(
    family,
    {
      address: { listen: '127.0.0.1', host: '127.0.0.1' },
      portRange: { low: 0, high: 0 },
      udpIdleTimeout: 250,
      holdPort: () => Promise.resolve(() => undefined),
    },
    tool,
    undefined,
    { list: () => [] },
    new FakeClock(),
    new MemoryLogger(),
  );

/** Each of them over one variant: that both variants do the same is shown elsewhere. */
const contracts: Readonly<Record<string, readonly ContractCase[]>> = {
  'iptables over iptables-nft': backendContract(subject('nft', iptables)),
  'userspace over iptables-legacy': backendContract({
    ...subject('legacy', userspace),
    adopts: false,
    keepsUnexplained: false,
  }),
};

describe.each(Object.keys(contracts))('%s', (name) => {
  for (const { name: promise, run } of contracts[name]!) it(promise, run);
});
