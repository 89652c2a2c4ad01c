import { ApiError, ApiProtocolError } from '../client/api-error.js';

/** From where a reflector goes on: with a watch, or else with a list. */
export class Position {
  /** The version to continue watching from; undefined: list first. */
  version: string | undefined;
  private from = '0';
  private unreadableAt: string | undefined;

  /** The version that a list must show at least: "0", whatever the server has in its cache; "", the newest. */
  get listFrom(): string {
    return this.from;
  }

  /** The version cannot be continued from: everything is listed from the storage. */
  discard(): void {
    this.from = '';
    this.version = undefined;
  }

  /** Decides after a failure whether to continue watching or to list, and from which version. */
  failed(error: Error): void {
    const { version } = this;
    if (version === undefined) {
      if (error instanceof ApiError && (error.expired || error.fromTheFuture)) this.from = '';
    } else if (error instanceof ApiError && (error.expired || error.fromTheFuture || error.code === 404)) {
      this.listAfter(version);
    } else if (error instanceof ApiProtocolError) {
      // An event that is unreadable twice is skipped by listing.
      if (this.unreadableAt === version) this.listAfter(version);
      else this.unreadableAt = version;
    }
  }

  /** A list that failed before from the same version asks for the newest. */
  private listAfter(version: string): void {
    this.from = this.from === version ? '' : version;
    this.version = undefined;
  }
}
