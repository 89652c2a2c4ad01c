interface Question {
  readonly ask: () => unknown;
  readonly answer: unknown;
}

/** All that a walk asks the simulated machine, with what it was told. */
export class Inquiry {
  private readonly questions: Question[] = [];

  /** @param question asks for a value, or for an object that is another one once anything in it has changed */
  ask<Answer>(question: () => Answer): Answer {
    const answer = question();
    this.questions.push({ ask: question, answer });
    return answer;
  }

  /** Whether the machine would answer as it did, so that a packet would fare as it did. */
  isUpToDate(): boolean {
    return this.questions.every(({ ask, answer }) => ask() === answer);
  }
}
