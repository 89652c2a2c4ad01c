/** A reporter that names the test files that still ran when the run was ended from outside, by its time limit for example. */
export default class UnfinishedFiles {
  #running = new Set();

  onRunStart() {
    process.once('SIGTERM', () => {
      console.error(`ended from outside while these ran:\n${[...this.#running].join('\n')}`);
      process.exit(1);
    });
  }

  onTestFileStart({ path }) {
    this.#running.add(path);
  }

  onTestFileResult({ path }) {
    this.#running.delete(path);
  }
}
