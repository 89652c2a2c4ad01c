import { execa, type ResultPromise } from 'execa';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from './bundle.js';
import { runToEnd } from './run-to-end.js';
import { fromLine, toLine, type Answer, type Request } from './driver.js';

let made = 0;

/**
 * A network namespace of a test's own, and what runs in it. `close` ends the drivers and removes everything.
 * Needs root and iproute2, and fails when it lacks them.
 */
export class Namespace {
  private readonly drivers: Driver[] = [];

  private constructor(readonly name: string) {}

  /** Makes an empty namespace; its loopback interface is up, and it forwards as nodes do. */
  static async open(prefix: string): Promise<Namespace> {
    const name = `t${process.pid}-${prefix}-${++made}`;
    await runToEnd(['ip', 'netns', 'add', name]);
    const namespace = new Namespace(name);
    await namespace.run(['ip', 'link', 'set', 'lo', 'up']);
    await namespace.run(['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
    return namespace;
  }

  /** Runs a command in the namespace to its end; fails with its stderr when it fails. */
  run(command: readonly string[], input = ''): Promise<string> {
    return runToEnd(['ip', 'netns', 'exec', this.name, ...command], input);
  }

  /** Starts a bundled driver in the namespace. */
  drive<Handlers extends object>(bundle: DriverBundle<Handlers>): Driver<Handlers> {
    const driver = new Driver<Handlers>(this.name, bundle.file);
    this.drivers.push(driver as Driver);
    return driver;
  }

  async close(): Promise<void> {
    await Promise.all(this.drivers.map((driver) => driver.close()));
    await runToEnd(['ip', 'netns', 'delete', this.name]);
  }
}

/** A driver written in TypeScript, made into one file that node runs. Make one for each test file. */
export class DriverBundle<Handlers extends object = never> {
  /** Only for the type of the handlers. */
  declare readonly handlers: Handlers;

  private constructor(
    private readonly folder: string,
    readonly file: string,
  ) {}

  /** @param source the driver's TypeScript file; its last statement is `serve({ … })` */
  static async make<Handlers extends object>(source: URL): Promise<DriverBundle<Handlers>> {
    const folder = await mkdtemp(join(tmpdir(), 'kpdriver-'));
    const file = join(folder, 'driver.mjs');
    await bundle(source, file);
    return new DriverBundle(folder, file);
  }

  /** One that another process made, which removes it. */
  static at<Handlers extends object>(file: string): DriverBundle<Handlers> {
    return new DriverBundle<Handlers>(dirname(file), file);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

type Call = (...values: never[]) => unknown;

/** A driver process in a namespace, which does what it is asked, one thing at a time. */
export class Driver<Handlers extends object = never> {
  private readonly process: ResultPromise;
  private readonly waiting = new Map<
    number,
    { resolve: (result: never) => void; reject: (error: Error) => void }
  >();
  private lastId = 0;

  constructor(namespace: string, file: string) {
    const process_ = execa('ip', ['netns', 'exec', namespace, process.execPath, file], {
      stdin: 'pipe',
      buffer: false,
      reject: false,
    });
    this.process = process_;
    let complaints = '';
    process_.stderr!.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    createInterface({ input: process_.stdout! }).on('line', (line) =>
      this.answered(fromLine(line) as Answer),
    );
    void process_.then(() => {
      for (const { reject } of this.waiting.values()) {
        reject(new Error(`the driver in ${namespace} ended: ${complaints || 'no message'}`));
      }
      this.waiting.clear();
    });
  }

  /** Calls a handler of the driver. Rejects with what the handler threw: its message and its own properties. */
  ask<Name extends keyof Handlers & string>(
    op: Name,
    ...values: Handlers[Name] extends Call ? Parameters<Handlers[Name]> : never
  ): Promise<Handlers[Name] extends Call ? Awaited<ReturnType<Handlers[Name]>> : never> {
    const id = ++this.lastId;
    const request: Request = { id, op, values };
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.process.stdin!.write(toLine(request));
    });
  }

  /** Lets the driver finish, and waits for its end. */
  async close(): Promise<void> {
    this.process.stdin!.end();
    await this.process;
  }

  private answered({ id, result, error }: Answer): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) waiting?.reject(Object.assign(new Error(error.message), error));
    else waiting?.resolve(result as never);
  }
}
