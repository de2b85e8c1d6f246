"""The BMCs' tasks, and the monitors by which a client follows what it has asked for."""
from __future__ import annotations

import flask

from . import redfish

TASKS = "/redfish/v1/TaskService/Tasks"
MONITORS = "/redfish/v1/TaskService/TaskMonitors"
ENDED = ("Completed", "Exception")

service = flask.Blueprint("MachineRoomTasks", __name__)


def path(task):
    """Return the path of a task."""
    return f"{TASKS}/{task}"


def monitor(task):
    """Return the path of a task's monitor."""
    return f"{MONITORS}/{task}"


def describe(server, task):
    """Return a task as Redfish shows it."""
    known = server.tasks[task]
    failed = known["state"] == "Exception"
    messages = [{"MessageId": "TaskEvent.1.0.TaskAborted", "Message": known["message"]}] if known["message"] else []
    return {
        "@odata.type": "#Task.v1_4_3.Task", "@odata.id": path(task), "Id": task, "Name": known["name"],
        "TaskState": known["state"], "TaskStatus": "Critical" if failed else "OK", "Messages": messages,
        "TaskMonitor": monitor(task), "PercentComplete": 100 if known["state"] in ENDED else 50,
    }


@service.route(TASKS)
def tasks():
    """List the tasks."""
    return redfish.collection("Tasks", TASKS, list(redfish.asked().tasks))


@service.route(TASKS + "/<task>")
def task_resource(task):
    """Show a task."""
    server = redfish.asked()
    return describe(server, task) if task in server.tasks else redfish.fault(404, f"no task {task}")


@service.route(MONITORS + "/<task>")
def task_monitor(task):
    """Show a task, with status 202 until it has ended."""
    server = redfish.asked()
    if task not in server.tasks:
        return redfish.fault(404, f"no task {task}")
    return describe(server, task), 200 if server.tasks[task]["state"] in ENDED else 202
