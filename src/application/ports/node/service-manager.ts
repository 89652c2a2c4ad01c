/** What supervises this process, such as systemd. */
export interface ServiceManager {
  /** Milliseconds within which it expects `alive` again, or it restarts the process. Missing: it does not watch. */
  readonly watchdogMilliseconds?: number;
  /** The service does its work, and what depends on it may start. Idempotent. None of these calls throws. */
  ready(): void;
  /** The process works. */
  alive(): void;
  /** One line for people. */
  status(text: string): void;
  /** The process is about to end by itself. */
  stopping(): void;
}
