import { Descriptors, Files } from './files.js';
import { Life } from './life.js';
import { Machine } from '../kernel/machine.js';
import { Network } from './network.js';
import { Ports } from './ports.js';
import { ProxyProcess } from './proxy-process.js';
import { Random } from './random.js';
import { Scheduler } from './scheduler.js';
import type { WorldSettings } from './settings.js';
import type { LogLine } from './simulated-logger.js';

/** 2026-01-01, when every world begins. */
const BEGIN = Date.UTC(2026, 0, 1);

/** All that is simulated: one node with its kernel, files and programs, the network to an API server, time and chance. */
export class World {
  /** Decides what is left to chance while the world goes on. */
  readonly random: Random;
  /** Whoever is neither the program nor another process: the schedule, the checks. */
  readonly fate = new Life('fate', 1);
  readonly scheduler = new Scheduler(BEGIN, this.fate);
  readonly network: Network;
  readonly files: Files;
  readonly descriptors = new Descriptors();
  readonly datagramPorts = new Ports();
  readonly machine: Machine;
  /** What all processes of the program have logged. */
  readonly log: LogLine[] = [];
  readonly beganAt = BEGIN;
  /** By how much the wall clock was moved, in milliseconds. */
  clockOffset = 0;
  /** The number of the next process. */
  nextPid = 1000;
  /** The process of the program that runs now, or that ran last. */
  proxy: ProxyProcess;

  constructor(readonly settings: WorldSettings) {
    this.random = new Random(settings.seed);
    this.network = new Network(this.scheduler, this.random.fork());
    this.files = new Files(() => this.scheduler.now);
    this.machine = new Machine(this);
    this.proxy = ProxyProcess.none(this);
  }

  get now(): number {
    return this.scheduler.now;
  }
}
