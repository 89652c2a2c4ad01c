import * as real from 'node:process';
import { world } from '../world/current.js';
import { Ended } from '../world/scheduler.js';

/** Thrown where a real process would be gone. */
export class ProcessExit extends Ended {
  override readonly name = 'ProcessExit';

  constructor(readonly code: number) {
    super(`the simulated process exits with ${code}`);
  }
}

/** Signals and other events are those of the process that runs now. */
const eventsNow = () =>
  world.proxy.events as unknown as Record<(typeof EVENTS)[number], (...values: unknown[]) => unknown>;
const EVENTS = ['on', 'once', 'off', 'removeListener', 'listenerCount', 'listeners', 'emit'] as const;

/** In place of `process`: that of the simulated machine that runs the program now. */
export const simulatedProcess = {
  platform: 'linux',
  arch: 'x64',
  version: real.version,
  versions: real.versions,
  release: real.release,
  execArgv: [] as string[],
  execPath: '/usr/bin/node',
  argv: ['/usr/bin/node', '/usr/bin/kubeproxy'],
  env: {} as Record<string, string>,
  title: 'kubeproxy',
  get pid(): number {
    return world.proxy.life.pid;
  },
  cwd: (): string => '/',
  uptime: (): number => (world.scheduler.now - world.proxy.startedAt) / 1000,
  memoryUsage: Object.assign(() => ({ rss: 1, heapTotal: 1, heapUsed: 1, external: 0, arrayBuffers: 0 }), {
    rss: () => 1,
  }),
  getActiveResourcesInfo: (): readonly string[] => [],
  cpuUsage: () => ({ user: 0, system: 0 }),
  hrtime: Object.assign(
    (): [number, number] => [Math.floor(world.scheduler.now / 1000), (world.scheduler.now % 1000) * 1e6],
    { bigint: () => BigInt(Math.floor(world.scheduler.now * 1e6)) },
  ),
  nextTick: real.nextTick,
  emitWarning: (): void => undefined,
  getuid: (): number => 0,
  kill: (): boolean => true,
  exit(code = 0): never {
    world.proxy.exited(code);
    throw new ProcessExit(code);
  },
  stdout: { isTTY: false, write: (): boolean => true, once: (): void => undefined },
  stderr: { isTTY: false, write: (): boolean => true },
  stdin: {},
  ...Object.fromEntries(
    EVENTS.map((name) => [name, (...values: [string]): unknown => eventsNow()[name](...values)]),
  ),
};
