import { iptablesBackend } from '../support/backends.js';
import { execa } from 'execa';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { backendContract } from '../../src/testing/contract/backend-contract.js';
import type { BackendSubject, ContractCase } from '../../src/testing/contract/backend-subject.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import type { IptablesVariant } from '../../src/adapters/iptables/iptables-commands.js';
import { IptablesTool, XtablesLock } from '../../src/adapters/iptables/iptables-tool.js';
import { iptablesSnapshot } from '../testing/contract/snapshots.js';
import { nightly, sampleOf } from '../support/nightly.js';
import { iptablesVariants } from '../support/testbed/iptables-node.js';
import { HOST } from '../support/iptables/services.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { ContractDriver } from './contract/driver.js';
import { nftables } from './contract/nftables.js';

const family = 'IPv4';
const prefix = `t${process.pid}-contract`;
const STRANGERS =
  '*nat\n:MINE - [0:0]\n-A PREROUTING -j MINE\n-A MINE -j RETURN\nCOMMIT\n*filter\nCOMMIT\n*mangle\nCOMMIT\n';
const folder = mkdtempSync(join(tmpdir(), `${prefix}-`));
const lock = new XtablesLock(join(folder, 'xtables.lock'));
afterAll(() => rmSync(folder, { recursive: true }));
let made = 0;

/** A network namespace with a rule of somebody else's, and the tool of whoever looks at it. */
interface Place {
  readonly name: string;
  readonly tool: IptablesTool;
}

const toolIn = (name: string, variant: IptablesVariant): IptablesTool =>
  new IptablesTool({ variant, launcher: ['ip', 'netns', 'exec', name], lock });

const subject = (variant: IptablesVariant): BackendSubject<Place> => ({
  family,
  async makePlace() {
    const name = `${prefix}-${++made}`;
    await execa('ip', ['netns', 'add', name]);
    const tool = toolIn(name, variant);
    await tool.restore(family, [STRANGERS].values());
    return { name, tool };
  },
  removePlace: async ({ name }) => void (await execa('ip', ['netns', 'del', name])),
  open: ({ name }) =>
    iptablesBackend(
      family,
      toolIn(name, variant),
      undefined,
      () => Promise.resolve(HOST),
      new MemoryLogger(),
    ),
  snapshot: async ({ tool }) => iptablesSnapshot(await tool.save(family)),
  async damage({ name }) {
    const command = [`iptables-${variant}`, '-t', 'nat', '-D', 'PREROUTING', '1'];
    await execa('ip', ['netns', 'exec', name, ...command]);
  },
});

/** By day every other case, of iptables over one variant: simulated kernels have all of them. */
const sampled = <Place>(of: BackendSubject<Place>): readonly ContractCase[] =>
  backendContract(of).filter((_, place) => nightly || place % 2 === 0);

describe.each(sampleOf(iptablesVariants))('iptables over iptables-%s', (variant) => {
  for (const { name, run } of sampled(subject(variant))) it(name, run);
});

describe('nftables', () => {
  let bundle: DriverBundle<ContractDriver>;
  let namespace: Namespace;
  let driver: Driver<ContractDriver>;
  beforeAll(async () => {
    bundle = await DriverBundle.make<ContractDriver>(new URL('./contract/driver.ts', import.meta.url));
    namespace = await Namespace.open('contract');
    driver = namespace.drive(bundle);
  });
  afterAll(async () => {
    await namespace?.close();
    await bundle?.remove();
  });

  for (const { name } of sampled(nftables)) it(name, () => driver.ask('run', name));
});
