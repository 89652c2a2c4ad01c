import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FleetServer } from './fleet-server.js';

type Asked = { readonly [Name in keyof FleetServer]: FleetServer[Name] };
type Result<Name extends keyof Asked> = Awaited<ReturnType<Asked[Name]>>;

/** A FleetServer in a process of its own, so that its processor time is its own. */
export class ServerProcess {
  private asked = 0;

  private constructor(private readonly child: ChildProcess) {}

  /** @param program path of `server.ts`, built */
  static async start(program: string, services: number, endpoints: number): Promise<ServerProcess> {
    const child = fork(program, [String(services), String(endpoints)]);
    // Every question that waits for an answer listens once.
    child.setMaxListeners(0);
    await answer(child, 0);
    return new ServerProcess(child);
  }

  /** Calls a method. Rejects when the process ends. */
  async ask<Name extends keyof Asked>(method: Name, ...args: Parameters<Asked[Name]>): Promise<Result<Name>> {
    const id = ++this.asked;
    this.child.send({ id, method, args });
    return (await answer(this.child, id)) as Result<Name>;
  }

  async stop(): Promise<void> {
    const exited = once(this.child, 'exit');
    this.child.disconnect();
    await exited;
  }
}

function answer(child: ChildProcess, expected: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      child.off('message', onMessage);
      child.off('exit', onExit);
    };
    const onMessage = ({ id, result }: { id: number; result: unknown }): void => {
      if (id !== expected) return;
      settle();
      resolve(result);
    };
    const onExit = (status: number | null): void => {
      settle();
      reject(new Error(`the stand-in API server ended with status ${status}; see its output above`));
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}
