import { execa, type ResultPromise } from 'execa';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TargetProtocol } from './probe-plan.js';
import { runToEnd } from '../program/run-to-end.js';

/** The connections one probe opens; `src` is left out where the host's own choice of a source address is wanted. */
export interface Packets {
  readonly src?: string;
  readonly dst: string;
  readonly proto: TargetProtocol;
  readonly port: number;
  /** How many connections, each from its own source port. */
  readonly n: number;
}

/** What came back, for each probe. */
export interface Received {
  readonly refused: readonly number[];
  readonly answers: readonly (readonly string[])[];
}

interface Answer {
  readonly id: number;
  readonly error?: string;
}

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

const agentScript = fileURLToPath(new URL('./agent/main.mjs', import.meta.url));

/** One host of the test bed: a network namespace, and an agent process in it that is started when first needed. */
export class Host {
  private agent: ResultPromise | undefined;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  /** @param name the network namespace's name */
  constructor(readonly name: string) {}

  /** The command line that runs `command` in this host. */
  commandLine(command: readonly string[]): string[] {
    return ['ip', 'netns', 'exec', this.name, ...command];
  }

  /** Runs a command in this host to its end; fails with its stderr when it fails. */
  run(command: readonly string[], input = ''): Promise<string> {
    return runToEnd(this.commandLine(command), input);
  }

  /** Sends packets from here; answers for each probe how many of its connections were refused, and what TCP servers answered. */
  async send(probes: readonly Packets[], quietMs = 120): Promise<Received> {
    return this.ask('sendPackets', { probes, quietMs });
  }

  /** One HTTP GET from here, on a connection of its own. */
  async get(url: string, timeoutMs = 5000): Promise<{ readonly status: number; readonly body: string }> {
    return this.ask('httpGet', { url, timeoutMs });
  }

  /** Has the agent in this host do something (agent/main.mjs lists what), and returns its answer. */
  ask<T>(op: string, request: object): Promise<T> {
    const agent = this.startedAgent();
    const id = ++this.lastId;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      agent.stdin!.write(`${JSON.stringify({ id, op, ...request })}\n`);
    });
  }

  /** Ends the agent by force, and with it every server and connection in it. */
  async killAgent(): Promise<void> {
    this.agent?.kill('SIGKILL');
    await this.agent;
  }

  /** Stops the agent as a process that hangs: its kernel goes on answering for it. `killAgent` ends it all the same. */
  hangAgent(): void {
    this.agent?.kill('SIGSTOP');
  }

  private startedAgent(): ResultPromise {
    if (this.agent) return this.agent;
    const [file, ...args] = this.commandLine([process.execPath, agentScript]);
    const agent = execa(file!, args, { stdin: 'pipe', buffer: false, reject: false });
    this.agent = agent;
    createInterface({ input: agent.stdout! }).on('line', (line) => this.answered(line));
    let complaints = '';
    agent.stderr!.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
    void agent.then(() => {
      this.agent = undefined;
      for (const { reject } of this.waiting.values()) {
        reject(new Error(`the agent in ${this.name} ended: ${complaints || 'no message'}`));
      }
      this.waiting.clear();
    });
    return agent;
  }

  private answered(line: string): void {
    const answer = JSON.parse(line) as Answer;
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if (answer.error === undefined) waiting?.resolve(answer as never);
    else waiting?.reject(new Error(`in ${this.name}: ${answer.error}`));
  }
}
