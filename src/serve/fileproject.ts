// A project whose model is a file; the file can be read again while the server runs.

import { openModel } from "./open.ts";
import type { Project, ServedModel } from "./project.ts";
import type { Subjects } from "./subjects.ts";

export interface FileProjectOptions {
  readonly id: string;
  readonly language: string;
  readonly subjects?: Subjects;
}

export class FileProject implements Project {
  readonly path: string;
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly subjects?: Subjects;
  #model: ServedModel;

  private constructor(path: string, model: ServedModel, { id, language, subjects }: FileProjectOptions) {
    this.path = path;
    this.id = this.name = id;
    this.language = language;
    if (subjects) this.subjects = subjects;
    this.#model = model;
  }

  static async open(path: string, options: FileProjectOptions): Promise<FileProject> {
    return new FileProject(path, await openModel(path), options);
  }

  get model(): ServedModel {
    return this.#model;
  }

  /** Reads the file again; requests that have begun go on with the model as it was. A file that is wrong changes nothing. */
  async reload(): Promise<void> {
    this.#model = await openModel(this.path);
  }
}
