#!/usr/bin/env bash
# Training on a Slurm cluster: a plan, the parts as a job array, and the merger when all parts are there.
#   examples/slurm/train.sh train.txt model.safetensors 8
# The folder of the model must be one that all nodes see. MLGPF is the command, where it is not on the PATH.
set -euo pipefail

data=$(realpath "$1") model=$(realpath -m "$2") parts=$3
here=$(dirname "$(realpath "$0")")
export MLGPF=${MLGPF:-mlgpf}

# What waits for a job that failed is taken off the queue.
submit=(sbatch --parsable --export=ALL --kill-on-invalid-dep=yes)
plan=$("${submit[@]}" "$here/plan.sbatch" "$data" "$model")
array=$("${submit[@]}" --dependency="afterok:$plan" --array="1-$parts" "$here/part.sbatch" "$data" "$model" "$parts")
merge=$("${submit[@]}" --dependency="afterok:$array" "$here/merge.sbatch" "$model" "$parts")
echo "plan $plan, parts $array, merger $merge: $model will be written"
