import { execa, type ResultPromise } from 'execa';
import { readUnit } from '../../support/program/unit.js';
import { InVain, until } from '../../support/until.js';
import type { Machine } from './machine.js';
import { knowing, type StandIn } from './stand-ins.js';

const NAME = 'kube-proxy-ts';
const UNIT = `/usr/lib/systemd/system/${NAME}.service`;

/** In the place of systemd on a machine: runs the unit of the Debian package, as the user and with the capabilities that it says. */
export class Systemd {
  private running: ResultPromise | undefined;
  private log = '';

  constructor(private readonly machine: Machine) {}

  /** What this project's documents and its package's scripts ask of it. */
  readonly systemctl: StandIn = knowing({
    'daemon-reload': () => undefined,
    [`enable --now ${NAME}`]: () => this.start(),
    [`try-restart ${NAME}.service`]: async () => {
      if (!this.running) return;
      await this.stop();
      await this.start();
    },
    [`--no-reload disable --now ${NAME}.service`]: () => this.stop(),
    [`is-active ${NAME}`]: () => {
      if (!this.running) throw new Error('inactive');
      return 'active';
    },
  });

  /** Returns when the service is ready, as it does for a unit that notifies. */
  private async start(): Promise<void> {
    const { command, privileges } = readUnit(await this.machine.run(['cat', UNIT]));
    const [file, ...args] = this.machine.commandLine([...privileges, ...command]);
    const running = execa(file!, args, { reject: false, buffer: false, all: true, stdin: 'ignore' });
    running.all!.on('data', (part: Buffer) => (this.log += part.toString()));
    this.running = running;
    await until('the service is ready', async () => {
      if (running.exitCode !== null) throw new InVain(`the service has ended:\n${this.log}`);
      if (await this.isReady()) return true;
      throw new Error(this.log);
    });
  }

  /** Ends the service if it runs. */
  async stop(): Promise<void> {
    this.running?.kill('SIGTERM');
    await this.running;
    this.running = undefined;
  }

  private async isReady(): Promise<boolean> {
    const ask = ['curl', '--silent', '--fail', '--output', '/dev/null', 'http://127.0.0.1:10256/readyz'];
    return this.machine.run(ask).then(
      () => true,
      () => false,
    );
  }
}
