import { jest } from '@jest/globals';
import { XtablesLock, type IptablesTool as Tool } from '../../../src/adapters/iptables/iptables-tool.js';
import type { IpSetTool as SetTool } from '../../../src/adapters/ipset/ipset-tool.js';
import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { LegacyWatch, type IptablesWatch } from '../../../src/adapters/iptables/iptables-watch.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { execa, startProgramsOf } from '../../simulation/replaced/execa.js';
import type { Child, ProgramClock } from '../../simulation/kernel/programs/children.js';
import { legacyGetsockopt } from '../../simulation/kernel/programs/legacy-info.js';
import { Programs } from '../../simulation/kernel/programs/programs.js';
import type { ProcessIdentity, Variant } from '../../simulation/kernel/programs/tables/table-set.js';

jest.unstable_mockModule('execa', () => ({ execa }));
const { IptablesTool } = await import('../../../src/adapters/iptables/iptables-tool.js');
const { IpSetTool } = await import('../../../src/adapters/ipset/ipset-tool.js');

const places = new Map<string, Place>();
startProgramsOf(({ XTABLES_LOCKFILE: name = '' }) => places.get(name) ?? [...places.values()].at(-1)!);

/** Programs go on as soon as it is their turn. */
const clock: ProgramClock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    if (milliseconds === 0) {
      const soon = setImmediate(run);
      return { cancel: () => clearImmediate(soon) };
    }
    const later = setTimeout(run, milliseconds).unref();
    return { cancel: () => clearTimeout(later) };
  },
  pauseOf: () => 0,
};

/** A machine with programs, and the program's own tools on it. */
export class Place {
  generation = 1;
  readonly commits: ProcessIdentity[] = [];
  readonly programs: Programs;
  readonly children: Child[] = [];
  readonly clock = clock;
  private readonly name = `/run/xtables-${places.size}.lock`;
  private lastPid = 1000;

  constructor(readonly variant: Variant) {
    this.programs = new Programs({
      standard: variant,
      touch: (process) => {
        this.generation++;
        this.commits.push(process);
      },
    });
    places.set(this.name, this);
  }

  nextPid(): number {
    return ++this.lastPid;
  }

  adopt(child: Child): void {
    this.children.push(child);
  }

  /** The program's tool, in a new process. */
  tool(): Tool {
    const { variant } = this;
    const calls = { flock: () => 0, errno: () => 0 };
    const heard = this.commits.length;
    const listen = () => ({
      generationsOf: (pid: number) =>
        this.commits.flatMap((process, index) => (index >= heard && process.pid === pid ? [index + 2] : [])),
      close: () => undefined,
    });
    return new IptablesTool({ variant, lock: new XtablesLock(this.name, calls as never), listen });
  }

  setTool(): SetTool {
    return new IpSetTool();
  }

  /** What shows that somebody has written. */
  watch(family: IpFamily): IptablesWatch {
    if (this.variant === 'nft')
      return new GenerationWatch({ generation: () => Promise.resolve(this.generation) });
    return new LegacyWatch(family, {
      socket: (domain) => domain,
      getsockopt: (fd, level, option, value) => -legacyGetsockopt(this.programs, fd, level, option, value),
      close: () => 0,
    });
  }
}
